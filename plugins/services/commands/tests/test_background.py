from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from commands_bench import Bench, ends, runs  # type: ignore[import-not-found]

from toolpost import TaskInfo


async def until(file: Path, text: str) -> None:
    async with asyncio.timeout(20):
        while text not in file.read_text():  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.01)


async def test_a_command_for_the_background_returns_at_once_with_a_file_that_fills(bench: Bench) -> None:
    task = await bench.commands.start(bench.command("echo out; sleep 0.3; echo more; exit 2", description="Try it"))
    assert (task.status, task.description, task.command) == (
        "running",
        "Try it",
        "echo out; sleep 0.3; echo more; exit 2",
    )
    assert task.output_file is not None
    await until(task.output_file, "out\n")
    assert bench.tasks.get(task.task_id).status == "running"
    ended = await bench.tasks.wait(task.task_id, 20)
    assert (ended.status, ended.ending) == ("failed", "exit code 2")
    assert task.output_file.read_text() == "out\nmore\n\n[exit code 2]\n"
    assert bench.tasks.output(task.task_id).startswith("out\nmore\n")


async def test_stopping_it_ends_all_that_it_started_and_keeps_the_file(bench: Bench) -> None:
    task = await bench.commands.start(bench.command("echo out; echo $$ > new; mv new pid; sleep 300 & wait"))
    pid = await bench.pid()
    assert (await bench.tasks.stop(task.task_id)).status == "stopped"
    await ends(pid)
    assert task.output_file is not None
    assert task.output_file.read_text() == "out\n"


async def test_one_that_is_stopped_at_once_does_not_live_on(bench: Bench) -> None:
    task = await bench.commands.start(bench.command("echo $$ > new; mv new pid; sleep 300"))
    await bench.tasks.stop(task.task_id)
    if (bench.folder / "pid").exists():
        await ends(await bench.pid())


async def test_a_time_out_counts_in_the_background_too(bench: Bench) -> None:
    task = await bench.commands.start(bench.command("echo $$ > new; mv new pid; sleep 300", timeout=0.5))
    ended = await bench.tasks.wait(task.task_id, 20)
    assert (ended.status, ended.ending) == ("failed", "timed out after 0.5 s")
    await ends(await bench.pid())


async def test_a_command_that_takes_long_moves_with_what_it_wrote_and_ends_there(bench: Bench) -> None:
    task = await bench.moved("echo before; sleep 0.6; echo after", move_after=0.2, timeout=0.5, moved_timeout=30)
    assert task.status == "running"
    assert 0 < bench.tasks.works[task.task_id].awaited <= 0.3
    assert task.output_file is not None
    assert task.output_file.read_text() == "before\n"
    assert (await bench.tasks.wait(task.task_id, 20)).status == "completed"
    assert bench.tasks.output(task.task_id).startswith("before\nafter\n")


async def test_a_time_out_that_was_asked_for_holds_for_a_command_that_moved(bench: Bench) -> None:
    task = await bench.moved("sleep 300", move_after=0.1, timeout=0.4)
    assert (await bench.tasks.wait(task.task_id, 20)).ending == "timed out after 0.4 s"


async def test_an_abort_of_the_turn_leaves_what_moved_alone(bench: Bench) -> None:
    task = await bench.moved("echo $$ > new; mv new pid; sleep 300", move_after=0.3)
    bench.abort.trigger()
    await asyncio.sleep(0)
    assert runs(await bench.pid())
    await bench.tasks.stop(task.task_id)


async def test_a_command_that_is_quick_does_not_move(bench: Bench) -> None:
    assert (await bench.run("echo quick", move_after=20)).output == "quick\n"


async def test_where_the_work_can_not_begin_the_command_ends(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(work: object) -> TaskInfo:
        raise RuntimeError("no more tasks")

    monkeypatch.setattr(bench.tasks, "begin", refuse)
    with pytest.raises(RuntimeError):
        await bench.moved("echo $$ > new; mv new pid; sleep 300", move_after=0.5)
    await ends(await bench.pid())
