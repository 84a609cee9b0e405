"""The doubles behave as the services that they stand for."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from toolpost import (
    Aborted,
    Command,
    CommandEnd,
    DecidedPaths,
    Files,
    Mcp,
    MissingService,
    ModelRequest,
    ProviderError,
    StaleFile,
    Stop,
    TaskEnd,
    TaskWork,
    TextDelta,
    ToolFailed,
    ToolUse,
)
from toolpost.testing import AbortSwitch, FakeModel, PlainCommands, PlainTasks, ProgressLog, make_context, make_scope

REQUEST = ModelRequest(model="fake-model", messages=[{"role": "user", "content": "Hello"}])


async def test_a_fake_model_plays_its_turns_and_keeps_the_requests() -> None:
    model = FakeModel(ToolUse("toolu_1", "Read", {}), ["Al", "most"], ProviderError("overloaded"), "Done.")
    called = [event async for event in model.stream(REQUEST)]
    spoken = [event async for event in model.stream(REQUEST)]
    assert [type(event).__name__ for event in called] == ["MessageStart", "ToolUse", "Stop"]
    assert called[-1].reason == "tool_use"  # type: ignore[union-attr]
    assert [event.text for event in spoken if isinstance(event, TextDelta)] == ["Al", "most"]
    assert isinstance(spoken[-1], Stop)
    with pytest.raises(ProviderError, match="overloaded"):
        [event async for event in model.stream(REQUEST)]
    assert len(model.requests) == 3


async def test_a_fake_model_that_has_no_turn_left_says_so() -> None:
    with pytest.raises(ProviderError, match="has 0 turns and was asked for turn 1"):
        [event async for event in FakeModel().stream(REQUEST)]


@pytest.mark.parametrize("data", [b"a\r\nb\r\n", "\ufeffä\n".encode(), b"\xff\xfea\x00", b"caf\xe9", b"a\rb", b""])
async def test_a_text_file_goes_back_as_it_came(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "file.txt"
    file.write_bytes(data)
    files = make_context(tmp_path).files
    loaded = await files.load(file)
    await files.write_text(file, loaded.text, like=loaded, expect=loaded.digest)
    assert file.read_bytes() == data


async def test_a_file_that_changed_meanwhile_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "file.txt"
    file.write_text("one", encoding="utf-8")
    files = make_context(tmp_path).files
    digest = (await files.load(file)).digest
    file.write_text("two", encoding="utf-8")
    with pytest.raises(StaleFile, match=r"file\.txt"):
        await files.write_text(file, "three", expect=digest)
    assert file.read_text(encoding="utf-8") == "two"


async def test_a_process_gets_its_input_and_gives_its_output_and_code(tmp_path: Path) -> None:
    script = "import sys; print(sys.stdin.read().upper()); print('oops', file=sys.stderr); sys.exit(3)"
    done = await make_context(tmp_path).processes.run([sys.executable, "-c", script], cwd=tmp_path, input=b"hi")
    assert (done.output, done.errors, done.returncode, done.timed_out) == (b"HI\n", b"oops\n", 3, False)


async def test_output_over_the_limit_is_counted_and_dropped(tmp_path: Path) -> None:
    done = await make_context(tmp_path).processes.run(["printf", "0123456789"], cwd=tmp_path, max_output=4)
    assert (done.output, done.dropped) == (b"0123", 6)


async def test_output_is_handed_on_until_no_more_is_wanted(tmp_path: Path) -> None:
    taken = bytearray()

    def take(piece: bytes) -> bool:
        taken.extend(piece)
        return True

    processes = make_context(tmp_path).processes
    done = await processes.run(["cat"], cwd=tmp_path, input=b"one", on_output=take)
    assert (bytes(taken), done.output, done.returncode) == (b"one", b"", 0)
    assert (await processes.run(["yes"], cwd=tmp_path, on_output=lambda _: False)).returncode == -9


async def test_what_is_read_by_nobody_does_not_keep_a_process_from_its_end(tmp_path: Path) -> None:
    process = await make_context(tmp_path).processes.start(["yes"], cwd=tmp_path)
    reading = process._process._transport.get_pipe_transport(1)  # type: ignore[attr-defined]  # no public way to see it
    async with asyncio.timeout(10):
        while reading.is_reading():  # noqa: ASYNC110 - nothing tells that asyncio stops to read, as its buffer is full
            await asyncio.sleep(0)
        await process.stop()
    assert process.returncode == -9


async def test_files_of_a_call_refuse_a_path_that_leads_elsewhere_by_now(tmp_path: Path) -> None:
    ctx = make_context(tmp_path)
    (ctx.cwd / "a").write_text("one")
    files = ctx.files.bound(DecidedPaths({ctx.cwd / "a": ctx.cwd / "b"}))
    with pytest.raises(StaleFile, match="by now"):
        await files.load(ctx.cwd / "a")
    with pytest.raises(StaleFile, match="by now"):
        await files.write_bytes(ctx.cwd / "a", b"two")
    with await ctx.files.open(ctx.cwd / "a") as file:
        assert file.read() == b"one"


async def test_a_process_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    done = await make_context(tmp_path).processes.run(["sleep", "60"], cwd=tmp_path, timeout=0.1)
    assert done.timed_out
    assert done.returncode == -9


async def test_an_abort_ends_the_process_and_is_raised(tmp_path: Path) -> None:
    abort = AbortSwitch()
    run = asyncio.create_task(make_context(tmp_path).processes.run(["sleep", "60"], cwd=tmp_path, abort=abort))
    await asyncio.sleep(0)
    abort.trigger("interrupt")
    with pytest.raises(Aborted) as caught:
        await run
    assert caught.value.reason == "interrupt"


def test_a_service_that_the_test_does_not_offer_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingService, match=r"'Mcp'.*services=\{Mcp"):
        _ = make_context(tmp_path).mcp


def test_a_service_of_the_tests_own_replaces_the_double(tmp_path: Path) -> None:
    mine: Any = object()
    assert make_context(tmp_path, services={Files: mine}).files is mine
    assert make_context(tmp_path, services={Mcp: mine}).mcp is mine


def test_a_context_is_in_its_folder_with_the_mode_and_environment_of_the_test(tmp_path: Path) -> None:
    ctx = make_context(tmp_path, mode="plan", interactive=True, env={"TOKEN": "x"})
    assert (ctx.cwd, ctx.mode, ctx.scope.interactive) == (tmp_path.resolve(), "plan", True)
    assert ctx.env["TOKEN"] == "x"
    assert not ctx.scope.home.exists()
    assert make_scope(tmp_path, model="other").model == "other"


async def test_plain_commands_run_to_the_end_and_keep_what_is_for_the_background(tmp_path: Path) -> None:
    commands, abort, progress = PlainCommands(), AbortSwitch(), ProgressLog()
    command = Command(text="say", argv=["sh", "-c", "echo out; echo err >&2; exit 3"], cwd=tmp_path, env={}, timeout=20)
    ended = await commands.run(command, abort=abort, progress=progress)
    assert isinstance(ended, CommandEnd)
    assert (ended.code, ended.output) == (3, "out\nerr\n")
    task = await commands.start(command)
    assert (task.status, commands.ran, commands.started) == ("running", [command], [command])
    folder = commands.folder()
    assert folder.is_dir()
    del commands
    assert not folder.exists()


async def test_plain_tasks_run_and_can_be_waited_for_and_stopped() -> None:
    async def quick() -> TaskEnd:
        return TaskEnd("failed", "exit code 1")

    async def endless() -> TaskEnd:
        await asyncio.Event().wait()
        return TaskEnd("completed", "")

    tasks = PlainTasks()
    one, other = [
        await tasks.begin(TaskWork(kind="test", description="", run=run, output=lambda: "so far"))
        for run in (quick, endless)
    ]
    assert (await tasks.wait(one.task_id, 10)).ending == "exit code 1"
    assert (await tasks.wait(other.task_id, 0)).status == "running"
    assert tasks.output(other.task_id) == "so far"
    assert (await tasks.stop(other.task_id)).status == "stopped"
    assert [task.status for task in tasks.list()] == ["failed", "stopped"]
    for name in (other.task_id, "nope"):
        with pytest.raises(ToolFailed, match=name):
            await tasks.stop(name)
    await tasks.aclose()


async def test_a_plain_process_is_not_held_by_what_keeps_its_pipe(tmp_path: Path) -> None:
    process = await make_context(tmp_path).processes.start(["sh", "-c", "sleep 300 & exit 4"], cwd=tmp_path)
    async with asyncio.timeout(20):
        assert await process.wait() == 4
    await process.stop()
