from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from toolpost import Aborted, Allow, TaskEnd, TaskInfo, Tasks, TaskWork, Tool, ToolContext, ToolFailed
from toolpost.testing import AbortSwitch, PlainTasks, call_tool, make_context
from toolpost_tool_background import BackgroundTools, TaskOutput, TaskStop


class Desk:
    """Tasks that end when the test says so, and the tools on them."""

    def __init__(self, folder: Path) -> None:
        self.tasks = PlainTasks()
        self.abort = AbortSwitch()
        self.ctx: ToolContext = make_context(folder, services={Tasks: self.tasks}, abort=self.abort)
        self.go = asyncio.Event()
        self.written = ""

    async def begin(self) -> TaskInfo:
        async def run() -> TaskEnd:
            await self.go.wait()
            return TaskEnd("failed", "exit code 2")

        work = TaskWork(
            kind="local_bash", description="npm test", run=run, output=lambda: self.written, command="npm test --all"
        )
        return await self.tasks.begin(work)

    async def call(self, tool: Tool[Any], **input: Any) -> tuple[str, Any]:
        result = await call_tool(tool, input, self.ctx)
        content = tool.to_result_block(result.data, "toolu_test")["content"]
        assert isinstance(content, str)
        return content, result.data


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    await desk.tasks.aclose()


async def test_a_look_tells_the_state_and_what_was_written(desk: Desk) -> None:
    task = await desk.begin()
    desk.written = "1 passed\n"
    text, data = await desk.call(TaskOutput(), task_id=task.task_id, block=False)
    assert text == f"Task {task.task_id}: running\n1 passed"
    assert (data["retrieval_status"], data["task"]["status"]) == ("not_ready", "running")


async def test_waiting_returns_as_soon_as_the_task_ended(desk: Desk) -> None:
    task = await desk.begin()
    waiting = asyncio.create_task(desk.call(TaskOutput(), task_id=task.task_id, timeout=600_000))
    await asyncio.sleep(0)
    desk.go.set()
    text, data = await waiting
    assert text == f"Task {task.task_id}: failed (exit code 2)\n(no output)"
    assert (data["retrieval_status"], data["task"]["ending"]) == ("success", "exit code 2")


async def test_a_wait_that_is_over_says_that_the_task_still_runs(desk: Desk) -> None:
    task = await desk.begin()
    text, data = await desk.call(TaskOutput(), task_id=task.task_id, timeout=10)
    assert "still running; the time to wait is over" in text
    assert data["retrieval_status"] == "timeout"


@pytest.mark.parametrize("timeout", [0, -5])
async def test_no_time_to_wait_is_a_look(desk: Desk, timeout: int) -> None:
    task = await desk.begin()
    assert "still running" in (await desk.call(TaskOutput(), task_id=task.task_id, timeout=timeout))[0]


async def test_an_abort_ends_the_waiting_and_not_the_task(desk: Desk) -> None:
    task = await desk.begin()
    waiting = asyncio.create_task(desk.call(TaskOutput(), task_id=task.task_id))
    await asyncio.sleep(0)
    desk.abort.trigger()
    with pytest.raises(Aborted):
        await waiting
    assert desk.tasks.get(task.task_id).status == "running"


@pytest.mark.parametrize("name", ["task_id", "shell_id"])
async def test_stopping_names_the_task_and_its_command(desk: Desk, name: str) -> None:
    task = await desk.begin()
    text, data = await desk.call(TaskStop(), **{name: task.task_id})
    assert text == f"Stopped the task {task.task_id}: npm test --all"
    assert data == {
        "message": f"Stopped the task {task.task_id}",
        "task_id": task.task_id,
        "task_type": "local_bash",
        "command": "npm test --all",
    }
    assert desk.tasks.get(task.task_id).status == "stopped"


async def test_a_task_that_ended_is_not_stopped(desk: Desk) -> None:
    task = await desk.begin()
    desk.go.set()
    await desk.tasks.wait(task.task_id, 10)
    with pytest.raises(ToolFailed):
        await desk.call(TaskStop(), task_id=task.task_id)


async def test_neither_asks_for_permission(desk: Desk) -> None:
    for tool in BackgroundTools().tools():
        parsed = tool.shape().parse({"task_id": "b1"})
        assert isinstance(await tool.check_permissions(parsed, desk.ctx.scope), Allow)


def test_older_names_still_find_the_tool() -> None:
    assert TaskStop().aliases == ("KillShell", "KillBash")


def test_both_together_take_less_than_a_kilobyte_of_a_request() -> None:
    spent = [
        {"name": tool.name, "description": tool.prompt({}), "input_schema": tool.shape().schema}
        for tool in BackgroundTools().tools()
    ]
    assert len(json.dumps(spent)) <= 850
