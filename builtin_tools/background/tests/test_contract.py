from __future__ import annotations

import asyncio
from collections.abc import Sequence

from toolpost import TaskInfo, Tasks, TaskWork, ToolFailed
from toolpost.testing import ToolContract
from toolpost_tool_background import TaskOutput, TaskStop

DONE = TaskInfo(task_id="b1", kind="local_bash", description="Build", status="completed", ending="exit code 0")
BUSY = TaskInfo(task_id="b2", kind="local_bash", description="Serve", status="running", command="npm start")


class TwoTasks:
    """One task that ended and one that never does."""

    async def begin(self, work: TaskWork) -> TaskInfo:
        return BUSY

    def list(self) -> Sequence[TaskInfo]:
        return DONE, BUSY

    def get(self, task_id: str) -> TaskInfo:
        for task in self.list():
            if task.task_id == task_id:
                return task
        raise ToolFailed(f"no task {task_id!r}")

    def output(self, task_id: str) -> str:
        return f"output of {self.get(task_id).description}\n"

    async def wait(self, task_id: str, timeout: float) -> TaskInfo:
        await asyncio.sleep(timeout)
        return self.get(task_id)

    async def stop(self, task_id: str) -> TaskInfo:
        return self.get(task_id)


class TestTaskOutput(ToolContract):
    tool = TaskOutput
    example = {"task_id": "b1"}
    examples_invalid = ({"task_id": "nope"}, {})
    example_slow = {"task_id": "b2"}
    services = {Tasks: TwoTasks()}
    max_prompt_chars = 100


class TestTaskStop(ToolContract):
    tool = TaskStop
    example = {"task_id": "b2"}
    examples_invalid = ({"task_id": "nope"}, {}, {"task_id": " "})
    services = {Tasks: TwoTasks()}
    max_prompt_chars = 100
