from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolpost import ToolContext
from toolpost.testing import call_tool, make_context
from toolpost_tool_grep import Grep, search

GREP = Grep()


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext:
    place = tmp_path / "place"
    place.mkdir()
    return make_context(place)


def stand_in(ctx: ToolContext, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Let a shell script be what is run as ripgrep."""
    program = ctx.cwd.parent / "rg"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(search, "ripgrep", lambda _: str(program))


async def grep(ctx: ToolContext, pattern: str, progress: Any = None, **more: Any) -> str:
    result = await call_tool(GREP, {"pattern": pattern, "output_mode": "content", **more}, ctx, progress)
    return str(GREP.to_result_block(result.data, "toolu_1")["content"])


def printed(name: str, line: int, text: str) -> str:
    """Return the shell command that prints a result as ripgrep would."""
    return f"printf './{name}\\000{line}:1:{text}\\n'"


async def test_the_first_results_are_shown_while_the_search_still_runs(
    ctx: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait = "until [ -e ../go-on ]; do sleep 0.01; done"
    stand_in(ctx, monkeypatch, f"{printed('a.txt', 1, 'one')}; {wait}; {printed('b.txt', 2, 'two')}")
    shown: list[str] = []

    def progress(text: str, /, **_: Any) -> None:
        shown.append(text)
        (ctx.cwd.parent / "go-on").touch()

    assert await grep(ctx, "o", progress) == "a.txt:1:one\nb.txt:2:two"
    assert shown == ["a.txt:1:1:one"]


async def test_a_search_ended_at_the_time_limit_gives_whole_lines_and_says_so(
    ctx: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(ctx, monkeypatch, f"{printed('a.txt', 1, 'one')}; printf './b.txt'; sleep 60")
    monkeypatch.setattr(search, "SECONDS", 0.5)

    assert await grep(ctx, "o") == (
        "a.txt:1:one\n(The search was ended after 0.5 s; this is what it found until then.)"
    )


async def test_more_output_than_is_kept_ends_the_search_and_says_so(
    ctx: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(ctx, monkeypatch, f"while :; do {printed('a.txt', 1, 'one')}; done")
    monkeypatch.setattr(search, "MOST_OUTPUT", 100)

    text = await grep(ctx, "o")

    assert text.startswith("a.txt:1:one\n")
    assert text.endswith("(There is more output than can be kept; narrow the search.)")


async def test_a_search_without_room_for_threads_is_run_again_with_one(
    ctx: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = "echo 'rg: Resource temporarily unavailable (os error 11)' >&2; exit 2"
    stand_in(ctx, monkeypatch, f'[ "$1" = --threads=1 ] || {{ {refused}; }}\n{printed("a.txt", 1, "one")}')

    assert await grep(ctx, "o") == "a.txt:1:one"


@pytest.mark.parametrize("pattern", ["-v", "--files", "--", "-", "-e=x", "a-b\nc", r"(?-u:\xff)y", "$HOME", "`id`"])
async def test_every_pattern_is_data(ctx: ToolContext, pattern: str) -> None:
    (ctx.cwd / "a.txt").write_bytes(b"q -v --files -- -e=x\na-b\nc\n\xffy\n")
    (ctx.cwd / "other.txt").write_text("none of it")

    found = await grep(ctx, pattern, output_mode="files_with_matches")

    wanted = "No matches found" if pattern in ("$HOME", "`id`") else "Found 1 file\na.txt"
    assert found == wanted


async def test_the_systems_ripgrep_is_taken_where_the_setting_says_so(tmp_path: Path) -> None:
    system = tmp_path / "rg"
    system.write_text("#!/bin/sh\n")
    system.chmod(0o755)
    path = {"PATH": str(tmp_path)}

    assert search.ripgrep({**path, "USE_BUILTIN_RIPGREP": "false"}) == str(system)
    assert search.ripgrep(path) != str(system)
