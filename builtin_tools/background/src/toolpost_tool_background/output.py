"""The tool TaskOutput."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from toolpost import Aborted, Allow, Tool, ToolResult

if TYPE_CHECKING:
    from toolpost import Decision, PermissionScope, Progress, TaskInfo, Tasks, ToolContext, ToolResultBlock

DEFAULT_WAIT = 30_000
MOST_WAIT = 600_000


@dataclass(frozen=True)
class TaskOutputInput:
    """Which task."""

    task_id: str
    block: Annotated[bool, "Wait for its end"] = True
    timeout: Annotated[int, "Most milliseconds to wait, default 30000, up to 600000"] = DEFAULT_WAIT


class TaskOutput(Tool[TaskOutputInput]):
    """State and output of a background task. You are told of its end: wait for it only if you must."""

    name = "TaskOutput"
    search_hint = "background task shell output wait status"
    input_model = TaskOutputInput

    def is_read_only(self, input: TaskOutputInput) -> bool:
        """Looking changes nothing."""
        del input
        return True

    def is_concurrency_safe(self, input: TaskOutputInput) -> bool:
        """Looking may go on beside other calls."""
        del input
        return True

    def interrupt_behavior(self) -> Literal["cancel", "block"]:
        """A new message of the person ends the waiting."""
        return "cancel"

    async def check_permissions(self, input: TaskOutputInput, scope: PermissionScope) -> Decision | None:
        """Ask for nothing: the task is the session's own."""
        del input, scope
        return Allow("it only looks at a task of this session")

    def activity(self, input: TaskOutputInput) -> str:
        """Say what is looked at or waited for."""
        return f"{'Waiting for' if input.block else 'Looking at'} the task {input.task_id[:100]}"

    def render_call(self, input: TaskOutputInput) -> str:
        """Return the id."""
        return input.task_id[:100]

    async def call(self, input: TaskOutputInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        """Return the task's state and output, after waiting for its end where that is asked for."""
        del progress
        tasks = ctx.tasks
        task = tasks.get(input.task_id)
        if input.block and task.status == "running":
            task = await _ended(tasks, ctx, input)
        running = task.status == "running"
        data = {
            "retrieval_status": ("timeout" if input.block else "not_ready") if running else "success",
            "task": {
                "task_id": task.task_id,
                "task_type": task.kind,
                "status": task.status,
                "ending": task.ending,
                "description": task.description,
                "output": tasks.output(task.task_id),
            },
        }
        return ToolResult(data)

    def to_result_block(self, data: Any, tool_use_id: str) -> ToolResultBlock:
        """Say how the task is, then what it wrote."""
        task = data["task"]
        state = f"{task['status']} ({task['ending']})" if task["ending"] else task["status"]
        if data["retrieval_status"] == "timeout":
            state = "still running; the time to wait is over"
        text = f"Task {task['task_id']}: {state}\n{task['output'].rstrip() or '(no output)'}"
        return {"type": "tool_result", "tool_use_id": tool_use_id, "content": text}


async def _ended(tasks: Tasks, ctx: ToolContext, input: TaskOutputInput) -> TaskInfo:
    """Wait for the end, the time-out or the abort."""
    seconds = min(max(input.timeout, 0), MOST_WAIT) / 1000
    waiting = asyncio.ensure_future(tasks.wait(input.task_id, seconds))
    called_off = asyncio.ensure_future(ctx.abort.wait())
    try:
        await asyncio.wait({waiting, called_off}, return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            raise Aborted(called_off.result())
        return waiting.result()
    finally:
        waiting.cancel()
        called_off.cancel()
