from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from toolpost import DecidedPaths, InvalidInput, ToolContext, ToolFailed
from toolpost.testing import call_tool, make_context
from toolpost_tool_grep import Grep, GrepInput, search

GREP = Grep()


@pytest.fixture(params=["ripgrep", "fallback"])
def ctx(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ToolContext:
    """A context for each of the two engines."""
    if request.param == "fallback":
        monkeypatch.setattr(search, "ripgrep", lambda _: None)
    elif search.ripgrep(os.environ) is None:
        pytest.skip("there is no ripgrep here")
    return make_context(tmp_path)


def lay(ctx: ToolContext, **files: str) -> None:
    """Write files; `__` in a name stands for a slash, `_` for a dot."""
    for name, content in files.items():
        path = ctx.cwd / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())


async def data(ctx: ToolContext, pattern: str, **more: Any) -> Any:
    given = {key.replace("_", "-") if key.startswith("_") else key: value for key, value in more.items()}
    return (await call_tool(GREP, {"pattern": pattern, **given}, ctx)).data


async def grep(ctx: ToolContext, pattern: str, **more: Any) -> str:
    return str(GREP.to_result_block(await data(ctx, pattern, **more), "t")["content"])


async def lines(ctx: ToolContext, pattern: str, **more: Any) -> list[str]:
    return (await grep(ctx, pattern, output_mode="content", **more)).splitlines()


async def test_files_are_listed_in_order_from_the_current_folder(ctx: ToolContext) -> None:
    lay(ctx, b_txt="needle", d__c_txt="a needle", a_txt="needle", n_txt="no")

    assert await grep(ctx, "needle") == "Found 3 files\na.txt\nb.txt\nd/c.txt"
    assert await grep(ctx, "needle", path="d") == "Found 1 file\nd/c.txt"
    assert (await data(ctx, "needle"))["filenames"] == ["a.txt", "b.txt", "d/c.txt"]


async def test_content_shows_lines_with_their_context(ctx: ToolContext) -> None:
    lay(ctx, a_txt="l1\nl2\nHIT\nl4\nl5\nl6\nl7\nHIT again\r\n", b_txt="HIT\n")

    assert await lines(ctx, "HIT", _A=1, _B=1) == [
        "a.txt-2-l2",
        "a.txt:3:HIT",
        "a.txt-4-l4",
        "--",
        "a.txt-7-l7",
        "a.txt:8:HIT again",
        "--",
        "b.txt:1:HIT",
    ]
    assert await lines(ctx, "HIT", _n=False) == ["a.txt:HIT", "a.txt:HIT again", "b.txt:HIT"]
    assert await lines(ctx, "H.T", _o=True, path="a.txt") == ["a.txt:3:HIT", "a.txt:8:HIT"]
    assert len(await lines(ctx, "HIT", _C=1)) == len(await lines(ctx, "HIT", context=1)) == 8


async def test_counts_have_a_total_over_all_files(ctx: ToolContext) -> None:
    lay(ctx, a_txt="n\nn\n", b_txt="n\n", c_txt="n\n")

    assert await grep(ctx, "n", output_mode="count", head_limit=2) == (
        "4 matching lines in 3 files\na.txt:2\nb.txt:1\n(Files 1-2 of 3. More with offset=2.)"
    )


async def test_head_limit_and_offset_page_through_the_results(ctx: ToolContext) -> None:
    lay(ctx, a_txt="".join(f"hit {n}\n" for n in range(1, 400)))

    assert await lines(ctx, "hit", head_limit=2, offset=3) == [
        "a.txt:4:hit 4",
        "a.txt:5:hit 5",
        "(Lines 4-5 of 399. More with offset=5.)",
    ]
    assert len(await lines(ctx, "hit")) == 251
    assert len(await lines(ctx, "hit", head_limit=0)) == 399
    assert await lines(ctx, "hit", offset=500) == ["No results behind offset 500: 399 lines in all"]


async def test_what_is_hidden_is_searched_and_what_git_ignores_is_not(ctx: ToolContext) -> None:
    lay(ctx, **{"_git__config": "needle", "_hooks__h": "needle", "out__x": "needle", "a_log": "needle"})
    (ctx.cwd / ".gitignore").write_text("out/\n*.log\n")

    assert (await data(ctx, "needle"))["filenames"] == [".hooks/h"]


async def test_globs_narrow_the_search(ctx: ToolContext) -> None:
    lay(ctx, a_ts="x", b_tsx="x", c_py="x", d__e_ts="x")

    assert (await data(ctx, "x", glob="*.{ts,tsx}"))["filenames"] == ["a.ts", "b.tsx", "d/e.ts"]
    assert (await data(ctx, "x", glob="*.py, *.tsx"))["filenames"] == ["b.tsx", "c.py"]
    assert (await data(ctx, "x", glob="d/**"))["filenames"] == ["d/e.ts"]
    assert (await data(ctx, "x", glob="!*.ts"))["filenames"] == ["b.tsx", "c.py"]
    assert (await data(ctx, "x", glob=f"{ctx.cwd}/d/*.ts"))["filenames"] == ["d/e.ts"]
    assert (await data(ctx, "x", glob=f"!{ctx.cwd}/**/*.ts"))["filenames"] == ["b.tsx", "c.py"]


async def test_names_with_line_breaks_are_counted_whole(ctx: ToolContext) -> None:
    (ctx.cwd / "new\nline.txt").write_text("x\n")

    assert await grep(ctx, "x", output_mode="count") == "1 matching line in 1 file\nnew\nline.txt:1"


async def test_what_is_no_file_is_refused_without_waiting(ctx: ToolContext) -> None:
    os.mkfifo(ctx.cwd / "pipe")

    with pytest.raises(ToolFailed, match="no regular file"):
        await grep(ctx, "x", path="pipe")


async def test_a_pattern_is_data_whatever_it_looks_like(ctx: ToolContext) -> None:
    lay(ctx, h_txt="--files here\n-q quiet\nplain\ntwo\nlines\n")

    assert await lines(ctx, "--files") == ["h.txt:1:--files here"]
    assert await lines(ctx, "-q", _i=True) == ["h.txt:2:-q quiet"]
    assert await lines(ctx, "two\nlines") == ["h.txt:4:two", "h.txt:5:lines"]
    with pytest.raises(InvalidInput, match="NUL"):
        await grep(ctx, "a\0b")
    with pytest.raises(InvalidInput, match="surrogate"):
        await grep(ctx, "\ud83d")


async def test_multiline_spans_lines(ctx: ToolContext) -> None:
    lay(ctx, a_txt="struct A {\n  int field;\n}\n")

    assert await grep(ctx, r"struct A \{.*?field", multiline=True) == "Found 1 file\na.txt"
    assert await lines(ctx, r"struct.*\n.*field") == ["a.txt:1:struct A {", "a.txt:2:  int field;"]
    assert await grep(ctx, "struct.*field") == "No matches found"


async def test_an_anchor_holds_in_a_file_with_crlf(ctx: ToolContext) -> None:
    lay(ctx, a_txt="one\r\ntwo\r\n")

    assert await lines(ctx, "^one$") == ["a.txt:1:one"]


async def test_a_folder_that_git_ignores_is_searched_when_it_is_named(ctx: ToolContext) -> None:
    lay(ctx, dist__a_txt="needle")
    (ctx.cwd / ".gitignore").write_text("dist/\n")

    assert await grep(ctx, "needle", path="dist") == "Found 1 file\ndist/a.txt"


async def test_lookaround_works_where_the_engine_has_it(ctx: ToolContext) -> None:
    lay(ctx, a_txt="foobar\nfoobaz\n")

    assert await lines(ctx, "foo(?=baz)") == ["a.txt:2:foobaz"]


async def test_a_long_line_is_clipped_round_the_match(ctx: ToolContext) -> None:
    lay(ctx, l_txt="x" * 100_000 + "SPOTME" + "y" * 100_000)

    (line,) = await lines(ctx, "SPOTME")

    assert "SPOTME" in line
    assert len(line) < 600


async def test_binary_files_are_passed_over(ctx: ToolContext) -> None:
    (ctx.cwd / "b.bin").write_bytes(b"\0\1needle\n")
    lay(ctx, a_txt="needle\n")

    assert await lines(ctx, "needle") == ["a.txt:1:needle"]


async def test_mistakes_are_errors_with_the_reason(ctx: ToolContext) -> None:
    lay(ctx, a_txt="foo(")

    for pattern, more, why in [
        ("foo(", {}, r"(?s)regex parse error.*escape them with a backslash"),
        ("x", {"type": "nosuchtype"}, "nosuchtype"),
        ("x", {"path": "nosuchdir"}, "no file or folder .*nosuchdir"),
    ]:
        with pytest.raises(ToolFailed, match=why):
            await grep(ctx, pattern, **more)


async def test_nothing_found_is_an_answer(ctx: ToolContext) -> None:
    lay(ctx, a_txt="x")

    for mode in ("content", "files_with_matches", "count"):
        assert await grep(ctx, "zzz", output_mode=mode) == "No matches found"


async def test_a_search_that_takes_too_long_gives_what_it_has(
    ctx: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(ctx, a_txt="a" * 5000 + "b\n")
    monkeypatch.setattr(search, "SECONDS", 0.3)

    assert "No matches found" in await grep(ctx, "(a+)+$")


async def test_nothing_tells_of_a_file_that_is_kept_back(ctx: ToolContext) -> None:
    lay(ctx, a_txt="needle\n", secret__k_txt="needle 1\nneedle 2\n", b_txt="l1\nl2\n")
    (ctx.cwd / "secret" / "broken\nname.txt").write_text("needle\n")
    paths = DecidedPaths(withheld=lambda file: (ctx.cwd / "secret") in file.parents)
    ctx = replace(ctx, control=replace(ctx.control, paths=paths))

    assert await grep(ctx, "needle") == "Found 1 file\na.txt"
    assert await grep(ctx, "needle", output_mode="count") == "1 matching line in 1 file\na.txt:1"
    assert await lines(ctx, "needle", _C=1) == ["a.txt:1:needle"]
    assert await grep(ctx, "needle [12]", output_mode="content") == "No matches found"


async def test_what_is_kept_back_does_not_use_up_the_limit(ctx: ToolContext) -> None:
    lay(ctx, a_txt="needle\n", b_txt="needle\n", c_txt="needle\n")
    paths = DecidedPaths(withheld=lambda file: file.name == "a.txt")
    ctx = replace(ctx, control=replace(ctx.control, paths=paths))

    assert (await data(ctx, "needle", head_limit=1))["filenames"] == ["b.txt"]
    assert (await data(ctx, "needle", head_limit=1))["numFiles"] == 2


async def test_the_first_results_are_shown_without_what_is_kept_back(ctx: ToolContext) -> None:
    lay(ctx, a_txt="needle\n")
    told: list[str] = []
    paths = DecidedPaths(withheld=lambda file: file.name == "a.txt")
    ctx = replace(ctx, control=replace(ctx.control, paths=paths))

    def progress(text: str, /, **data: Any) -> None:
        told.append(text)

    await GREP.call(GrepInput("needle", output_mode="content"), ctx, progress)

    assert told == []
