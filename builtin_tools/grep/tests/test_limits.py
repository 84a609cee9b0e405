from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolpost import Aborted, ToolContext, ToolFailed
from toolpost.testing import AbortSwitch, call_tool, make_context
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


async def test_nothing_to_show_may_come_with_the_reason(ctx: ToolContext) -> None:
    (ctx.cwd / "a.bin").write_bytes(b"x\0y\n")

    assert "write alternatives as a|b" in await grep(ctx, r"x\|y", output_mode="files_with_matches")
    assert "binary file in which the pattern is found" in await grep(ctx, "x", path="a.bin")
    assert await grep(ctx, "z", path="a.bin") == "No matches found"


@pytest.mark.parametrize(("pattern", "why"), [("f(", "unclosed group"), ("(?<=a", "missing closing parenthesis")])
async def test_a_broken_pattern_gives_the_reason_of_the_engine_that_knows_it(
    ctx: ToolContext, pattern: str, why: str
) -> None:
    with pytest.raises(ToolFailed, match=why) as failed:
        await grep(ctx, pattern)

    assert "~~~" not in str(failed.value)


async def test_several_types_may_be_named(ctx: ToolContext) -> None:
    for name in ("a.py", "b.ts", "c.md"):
        (ctx.cwd / name).write_text("x\n")

    assert await grep(ctx, "x", type="py, ts") == "a.py:1:x\nb.ts:1:x"


async def test_an_abort_ends_the_search(ctx: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    switch = AbortSwitch()
    ctx = make_context(ctx.cwd, abort=switch)
    stand_in(ctx, monkeypatch, f"{printed('a.txt', 1, 'one')}; exec sleep 60")

    with pytest.raises(Aborted):
        await grep(ctx, "o", lambda *_, **__: switch.trigger())
