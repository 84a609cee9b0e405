from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from toolpost import Aborted, ToolContext, ToolResult
from toolpost.testing import AbortSwitch, ProgressLog, call_tool, make_context
from toolpost_tool_bash import Bash, BashInput
from toolpost_tool_bash.jobs import shells_of
from toolpost_tool_bash.output import clean


class Session:
    """Calls one after another, as core makes them: each in the context that the last one left."""

    def __init__(self, ctx: ToolContext) -> None:
        self.ctx = ctx
        self.tool = Bash()
        self.progress = ProgressLog()

    async def run(self, command: str, **more: Any) -> tuple[str, ToolResult]:
        result = await call_tool(self.tool, {"command": command, **more}, self.ctx, self.progress)
        if result.context_modifier is not None:
            self.ctx = result.context_modifier(self.ctx)
        content = self.tool.to_result_block(result.data, "toolu_test")["content"]
        assert isinstance(content, str)
        return content, result


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[Session]:
    folder = tmp_path / "a project"
    folder.mkdir()
    session = Session(make_context(folder))
    yield session
    await session.ctx.stash.aclose()


async def test_both_streams_come_in_order(session: Session) -> None:
    text, result = await session.run("echo one; echo two >&2; echo three")
    assert (text, result.is_error) == ("one\ntwo\nthree", False)


async def test_a_failure_tells_its_code_and_its_output_once(session: Session) -> None:
    text, result = await session.run("echo why >&2; exit 3")
    assert (text, result.is_error) == ("Exit code 3\nwhy", True)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("echo a | grep b", "No matches found"),
        ("echo a > a; echo b > b; diff -q a b", "Files differ"),
        ("test -f none", "Condition is false"),
    ],
)
async def test_a_code_that_is_an_answer_is_no_failure(session: Session, command: str, says: str) -> None:
    text, result = await session.run(command)
    assert not result.is_error
    assert says in text


async def test_the_folder_carries_over_and_variables_do_not(session: Session) -> None:
    await session.run("mkdir sub; cd sub; export KEPT=1")
    text, _ = await session.run('pwd; echo "[$KEPT]"')
    assert text == f"{session.ctx.scope.project}/sub\n[]"
    assert session.ctx.scope.cwd == session.ctx.cwd


async def test_a_folder_outside_is_left_again_and_said(session: Session) -> None:
    text, _ = await session.run("cd / && exit 0")
    assert "set back" in text
    assert session.ctx.cwd == session.ctx.scope.project


async def test_a_folder_that_is_gone_is_replaced_by_the_project(session: Session) -> None:
    await session.run("mkdir gone && cd gone")
    session.ctx.cwd.rmdir()
    text, result = await session.run("echo here")
    assert not result.is_error
    assert "here" in text
    assert "is gone" in text


async def test_standard_input_is_empty_and_there_is_no_terminal(session: Session) -> None:
    text, _ = await session.run("cat; test -t 0 || echo none; cat /dev/tty 2>/dev/null || echo no tty")
    assert text == "none\nno tty"


async def test_much_output_is_kept_in_a_file_with_both_ends_shown(session: Session) -> None:
    text, result = await session.run("seq 1 200000")
    assert text.startswith("1\n2\n3\n")
    assert "200000\n[Whole output: /" in text
    assert len(text) < 30_000
    kept = Path(result.data["persistedOutputPath"])
    assert kept.read_text().count("\n") == 200_000


async def test_a_command_longer_than_an_argument_runs(session: Session) -> None:
    text, _ = await session.run(f"x='{'a' * 200_000}'; echo ${{#x}}")
    assert text == "200000"


async def test_at_the_time_out_what_was_printed_is_shown_and_the_tree_ends(session: Session) -> None:
    text, result = await session.run("trap '' TERM; echo started; sleep 300 & echo $!; sleep 300", timeout=300)
    assert result.is_error
    assert "timed out after 0.3 s" in text
    assert "started" in text
    child = int(text.split("started\n")[1].split("\n")[0])
    await ends(child)


async def test_an_abort_ends_the_tree(tmp_path: Path) -> None:
    switch = AbortSwitch()
    session = Session(make_context(tmp_path, abort=switch))
    call = asyncio.create_task(session.run("sleep 300 & echo $! > child; mv child pid; wait"))
    pid = await appears(tmp_path / "pid")
    switch.trigger()
    with pytest.raises(Aborted):
        await call
    await ends(int(pid))
    await session.ctx.stash.aclose()


async def test_a_long_command_tells_how_it_gets_on(session: Session) -> None:
    await session.run("echo working; sleep 1.3")
    assert session.progress.lines[0] == "working"


async def test_a_background_command_returns_at_once_and_can_be_stopped(session: Session) -> None:
    text, result = await session.run("echo out; echo $$ > pid.new; mv pid.new pid; sleep 300", run_in_background=True)
    name = result.data["backgroundTaskId"]
    assert name in text
    pid = await appears(session.ctx.cwd / "pid")
    assert Path(result.data["outputFile"]).read_text() == "out\n"
    assert await shells_of(session.ctx).stop(name)
    await ends(int(pid))
    assert not await shells_of(session.ctx).stop("bash-unknown")


async def test_a_background_command_that_is_stopped_at_once_does_not_live_on(session: Session) -> None:
    _, result = await session.run("sleep 300", run_in_background=True)
    shells = shells_of(session.ctx)
    process = shells._jobs[result.data["backgroundTaskId"]][1].process
    await shells.stop(result.data["backgroundTaskId"])
    await ends(process.pid)


async def test_children_can_tell_that_they_run_under_toolpost(session: Session) -> None:
    assert (await session.run('echo "$TOOLPOST $GIT_EDITOR"'))[0] == "1 true"


async def test_no_file_is_left_behind_by_a_small_output(session: Session) -> None:
    await session.run("echo small")
    assert list(shells_of(session.ctx).folder().iterdir()) == []


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"\x1b[31mred\x1b[0m \x1b]8;;x\x1b\\link\x1b]8;;\x1b\\\n", "red link\n"),
        (b"\rprogress 1\rprogress 2\r\nnext\r\n", "progress 2\nnext\n"),
        (b"abc\x08\x08d\n", "ad\n"),
        (b"a\x00b\xff\n", "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}\n"),
        ("grün 😀\n".encode(), "grün 😀\n"),
    ],
)
def test_terminal_codes_and_bytes_become_text(raw: bytes, shown: str) -> None:
    assert clean(raw) == shown


@pytest.mark.parametrize(
    ("command", "safe"), [("ls -la", True), ("cd src", False), ("touch a", False), ("ls > a", False)]
)
def test_only_what_reads_runs_beside_others(command: str, safe: bool) -> None:
    assert Bash().is_concurrency_safe(BashInput(command)) is safe


def test_the_tool_takes_less_than_two_kilobytes_of_a_request() -> None:
    tool = Bash()
    spent = {"name": tool.name, "description": tool.prompt({}), "input_schema": tool.shape().schema}
    assert len(json.dumps(spent)) <= 1_800


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


async def ends(pid: int) -> None:
    async with asyncio.timeout(20):
        while runs(pid):  # noqa: ASYNC110 - what is waited for is another process
            await asyncio.sleep(0.01)


async def appears(path: Path) -> str:
    async with asyncio.timeout(20):
        while not path.exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.01)
    return path.read_text()


async def test_a_command_that_would_fill_the_disk_is_ended_and_keeps_no_file(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolpost_tool_bash.shell.MOST_OUTPUT", 100_000)
    text, result = await session.run("seq 100000; sleep 300")

    assert result.is_error
    assert "It was ended: it had written over 100,000 bytes" in text
    assert text.count("\n") > 10
    assert "persistedOutputPath" not in result.data
