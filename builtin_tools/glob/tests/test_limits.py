from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolpost import Aborted, ToolContext
from toolpost.testing import AbortSwitch, call_tool, make_context
from toolpost_tool_glob import Glob, find, listing

GLOB = Glob()


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext:
    place = tmp_path / "place"
    place.mkdir()
    for name in ("a.py", "b.py", "c.py"):
        (place / name).touch()
    return make_context(place)


def stand_in(ctx: ToolContext, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Let a shell script be what is run as ripgrep."""
    program = ctx.cwd.parent / "rg"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(find, "ripgrep", lambda _: str(program))


async def glob(ctx: ToolContext, pattern: str, progress: Any = None) -> list[str]:
    result = await call_tool(GLOB, {"pattern": pattern}, ctx, progress)
    return sorted(str(GLOB.to_result_block(result.data, "toolu_1")["content"]).splitlines())


async def test_the_first_results_are_shown_while_the_search_still_runs(
    ctx: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait = "until [ -e ../go-on ]; do sleep 0.01; done"
    stand_in(ctx, monkeypatch, f"printf 'a.py\\000'; {wait}; printf 'c.py\\000'")
    shown: list[str] = []

    def progress(text: str, /, **_: Any) -> None:
        shown.append(text)
        (ctx.cwd.parent / "go-on").touch()

    assert await glob(ctx, "**/*.py", progress) == ["a.py", "c.py"]
    assert shown == ["Found a.py"]


async def test_a_search_ended_at_the_time_limit_gives_whole_names_and_says_so(
    ctx: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(ctx, monkeypatch, "printf 'a.py\\000b.p'; sleep 60")
    monkeypatch.setattr(find, "SECONDS", 0.5)

    assert await glob(ctx, "**/*.p*") == ["(The search was ended after 0.5 s; there may be more files.)", "a.py"]


async def test_more_names_than_are_taken_end_the_search_and_the_result_says_so(
    ctx: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(ctx, monkeypatch, "printf 'a.py\\000'; while :; do printf 'b.txt\\000'; done")
    monkeypatch.setattr(listing, "MOST_OUTPUT", 100)

    assert await glob(ctx, "**/*.py") == ["(There are more files than can be listed; name a folder.)", "a.py"]


async def test_a_search_without_room_for_threads_is_run_again_with_one(
    ctx: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = "echo 'rg: Resource temporarily unavailable (os error 11)' >&2; exit 2"
    stand_in(ctx, monkeypatch, f"case \"$*\" in *--threads=1*) printf 'a.py\\000';; *) {refused};; esac")

    assert await glob(ctx, "**/*.py") == ["a.py"]


async def test_an_abort_ends_the_search(ctx: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    switch = AbortSwitch()
    ctx = make_context(ctx.cwd, abort=switch)
    stand_in(ctx, monkeypatch, "printf 'a.py\\000'; exec sleep 60")

    with pytest.raises(Aborted):
        await glob(ctx, "**/*.py", lambda *_, **__: switch.trigger())


@pytest.mark.parametrize("name", ["-x.py", "--files", "--", "new\nline.py", "$HOME", "include:x", "\udcffx.py", "a,b"])
async def test_every_pattern_is_data(ctx: ToolContext, name: str) -> None:
    (ctx.cwd / name).touch()
    pattern = name.replace("\udcff", "?")

    for wanted in (pattern, f"**/{pattern}", f"{pattern[:-1]}?"):
        result = await call_tool(GLOB, {"pattern": wanted}, ctx)
        assert result.data["filenames"] == [name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")]


@pytest.mark.parametrize("pattern", ["**/*.py", "**/*.{py,pyi}", "**/b*", "**/{a,b}.py"])
async def test_what_git_ignores_is_not_found_whatever_the_pattern(ctx: ToolContext, pattern: str) -> None:
    (ctx.cwd / ".gitignore").write_text("b.py\nc.*\n")

    assert await glob(ctx, pattern) == (["No files found"] if pattern == "**/b*" else ["a.py"])
