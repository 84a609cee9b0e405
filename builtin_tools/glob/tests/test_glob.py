from __future__ import annotations

import os
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from toolpost import InvalidInput, Limits, ToolContext, ToolFailed
from toolpost.testing import call_tool, make_context
from toolpost_tool_glob import Glob, find
from toolpost_tool_glob.pattern import compiled, depth, fixed_prefix

GLOB = Glob()


@pytest.fixture(params=["ripgrep", "walk"])
def ctx(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ToolContext:
    """A context for each of the two ways to list files."""
    if request.param == "walk":
        monkeypatch.setattr(find, "ripgrep", lambda _: None)
    elif find.ripgrep(os.environ) is None:
        pytest.skip("there is no ripgrep here")
    place = tmp_path / "a place"
    place.mkdir()
    return make_context(place)


def lay(ctx: ToolContext, *names: str) -> None:
    for age, name in enumerate(names):
        path = ctx.cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))


async def glob(ctx: ToolContext, pattern: str, **more: Any) -> list[str]:
    return str(GLOB.to_result_block(await data(ctx, pattern, **more), "t")["content"]).splitlines()


async def data(ctx: ToolContext, pattern: str, **more: Any) -> Any:
    return (await call_tool(GLOB, {"pattern": pattern, **more}, ctx)).data


async def test_files_come_newest_first_named_from_the_current_folder(ctx: ToolContext) -> None:
    lay(ctx, "src/b.py", "src/n/c.py", "a.py", "x.js")

    assert await glob(ctx, "**/*.py") == ["src/b.py", "src/n/c.py", "a.py"]
    assert await glob(ctx, "src/*.py") == ["src/b.py"]
    assert await glob(ctx, "n/*", path="src") == ["src/n/c.py"]
    assert await glob(ctx, f"{ctx.cwd}/src/**/*.py") == ["src/b.py", "src/n/c.py"]


async def test_a_pattern_without_a_folder_looks_deeper_only_if_it_must(ctx: ToolContext) -> None:
    lay(ctx, "a.md", "d/b.md", "d/c.rst")

    assert await glob(ctx, "*.md") == ["a.md"]
    assert await glob(ctx, "*.rst") == ["d/c.rst", "(None lies directly in the folder; this is what **/*.rst finds.)"]
    assert await glob(ctx, "*.css") == ["No files found"]


@pytest.mark.parametrize(
    ("pattern", "meant"), [("[id]/*.tsx", r"\[id\]/*.tsx"), ("[id]/**", r"\[id\]/**"), ("*.ts,*.tsx", "{*.ts,*.tsx}")]
)
async def test_a_pattern_that_finds_nothing_is_taken_for_what_it_was_meant_for(
    ctx: ToolContext, pattern: str, meant: str
) -> None:
    lay(ctx, "[id]/page.tsx", "a.ts")

    (name, note) = await glob(ctx, pattern)

    assert name == ("a.ts" if "," in pattern else "[id]/page.tsx")
    assert f"this is what {meant} finds" in note


@pytest.mark.parametrize("form", ["NFC", "NFD"])
async def test_names_match_however_their_accents_are_composed(ctx: ToolContext, form: Literal["NFC", "NFD"]) -> None:
    lay(ctx, f"{unicodedata.normalize(form, 'café')}/a.py")

    others: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")
    for other in others:
        assert len(await glob(ctx, unicodedata.normalize(other, "**/café/*.py"))) == 1


async def test_ignored_files_and_git_are_left_out_and_hidden_files_are_not(ctx: ToolContext) -> None:
    lay(ctx, ".git/HEAD", "out/x.o", "src/a.log", "src/a.c", ".env", "src/keep.log")
    (ctx.cwd / ".gitignore").write_text("out/\n*.log\n")
    (ctx.cwd / "src/.gitignore").write_text("!keep.log\n")

    found = await glob(ctx, "**/*")

    assert {"src/a.c", ".env", ".gitignore"} <= set(found)
    assert not {"out/x.o", "src/a.log", ".git/HEAD"} & set(found)


async def test_a_pattern_sees_through_links_that_it_names_and_no_others(ctx: ToolContext) -> None:
    lay(ctx, "store/x.md", "store/n/y.md")
    (ctx.cwd / "link").symlink_to("store")
    (ctx.cwd / "store/up").symlink_to("..")

    assert await glob(ctx, "link/**/*.md") == ["link/x.md", "link/n/y.md"]
    assert sorted(await glob(ctx, "**/*.md")) == ["store/n/y.md", "store/x.md"]


async def test_files_outside_are_named_in_full(ctx: ToolContext) -> None:
    (ctx.cwd.parent / "other").mkdir()
    (ctx.cwd.parent / "other/o.txt").touch()

    assert await glob(ctx, "../other/*.txt") == [str(ctx.cwd.parent / "other/o.txt")]


async def test_a_literal_name_is_found_though_ignored(ctx: ToolContext) -> None:
    lay(ctx, "dist/app.js")
    (ctx.cwd / ".gitignore").write_text("dist/\n")

    assert await glob(ctx, "dist/app.js") == ["dist/app.js"]


async def test_the_limit_keeps_the_newest_and_says_so(ctx: ToolContext) -> None:
    lay(ctx, *(f"f{n}.txt" for n in range(10)))
    small = replace(ctx, limits=Limits(glob_max_results=3))

    assert await glob(small, "*.txt") == [
        "f0.txt",
        "f1.txt",
        "f2.txt",
        "(Showing the 3 newest of 10 files; use a narrower pattern for others.)",
    ]
    found = await data(small, "*.txt")
    assert (found["numFiles"], found["truncated"]) == (3, True)


async def test_nothing_found_is_an_answer_and_a_missing_folder_an_error(ctx: ToolContext) -> None:
    lay(ctx, "a.txt", "src/x")

    assert await glob(ctx, "**/*.zig") == ["No files found"]
    assert (await glob(ctx, "src"))[1:] == ["(src is a folder; list its files with src/**.)"]
    assert (await glob(ctx, "nodir/*.txt"))[0] == "No files found"
    with pytest.raises(ToolFailed, match=r"nodir does not exist"):
        await glob(ctx, "*", path="nodir")
    with pytest.raises(ToolFailed, match=r"a\.txt is a file"):
        await glob(ctx, "*", path="a.txt")
    with pytest.raises(InvalidInput, match="empty"):
        await glob(ctx, " ")


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.{ts,tsx,{m,c}js}", ["a.ts", "c.cjs"], ["e.py", "d/a.ts"]),
        ("a{,.bak}", ["a", "a.bak"], ["a.b"]),
        ("[a*.txt", ["[a.txt"], ["b.txt"]),
        ("app/\\[id\\]/*.tsx", ["app/[id]/p.tsx"], ["app/i/p.tsx"]),
        ("**/*", ["a", "b/c/.d", "new\nline"], []),
        ("src/**", ["src/a", "src/b/c"], ["srcx"]),
        ("[!ab]?.txt", ["cc.txt"], ["ac.txt", "/c.txt"]),
        ("[z-a]", ["[z-a]"], ["z"]),
        ("a**b", ["axxb"], ["a/b"]),
        ("**/a/{b,c}/**/*.py", ["a/b/x.py", "z/a/c/q/x.py"], ["a/d/x.py"]),
        ("{a,b", ["{a,b"], ["a"]),
        ("x.(y|z)+", ["x.(y|z)+"], ["x.y"]),
    ],
)
def test_patterns_match_as_shells_do(pattern: str, yes: list[str], no: list[str]) -> None:
    matches = compiled(pattern).match

    assert [name for name in yes if not matches(name)] == []
    assert [name for name in no if matches(name)] == []


def test_the_fixed_beginning_of_a_pattern_is_where_the_search_starts() -> None:
    assert fixed_prefix("src/x/**/*.py") == ("src/x", "**/*.py")
    assert fixed_prefix("/*.ts") == ("/", "*.ts")
    assert fixed_prefix("*.ts") == ("", "*.ts")
    assert (depth("*.ts"), depth("a/*.ts"), depth("**/*.ts"), depth("{a,b/c}")) == (1, 2, None, None)
    assert GLOB.get_path(GLOB.shape().parse({"pattern": "src/**/*.py", "path": "lib/"})) == "lib/src"
