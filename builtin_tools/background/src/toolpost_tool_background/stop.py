"""The tool TaskStop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from toolpost import Allow, Tool, ToolResult

if TYPE_CHECKING:
    from toolpost import Decision, PermissionScope, Progress, ToolContext, ToolResultBlock


@dataclass(frozen=True)
class TaskStopInput:
    """Which task."""

    task_id: str | None = None
    shell_id: Annotated[str | None, "Old name of task_id"] = None

    @property
    def named(self) -> str:
        """The id, under whichever name it came."""
        return self.task_id or self.shell_id or ""


class TaskStop(Tool[TaskStopInput]):
    """Ends a task in the background and all that it started."""

    name = "TaskStop"
    aliases = ("KillShell", "KillBash")
    search_hint = "background task shell kill end"
    input_model = TaskStopInput

    async def check_permissions(self, input: TaskStopInput, scope: PermissionScope) -> Decision | None:
        """Ask for nothing: the task is the session's own."""
        del input, scope
        return Allow("it ends only what this session started")

    def activity(self, input: TaskStopInput) -> str:
        """Say what is ended."""
        return f"Stopping the task {input.named[:100]}"

    def render_call(self, input: TaskStopInput) -> str:
        """Return the id."""
        return input.named[:100]

    async def validate_input(self, input: TaskStopInput, ctx: ToolContext) -> str | None:
        """Refuse a call that names no task."""
        del ctx
        return None if input.named.strip() else "The parameter `task_id` is missing. Name the task that is to end."

    async def call(self, input: TaskStopInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        """Stop the task and wait until it ended."""
        del progress
        task = await ctx.tasks.stop(input.named)
        data = {"message": f"Stopped the task {task.task_id}", "task_id": task.task_id, "task_type": task.kind}
        return ToolResult({**data, "command": task.command} if task.command else data)

    def to_result_block(self, data: Any, tool_use_id: str) -> ToolResultBlock:
        """Say what was ended."""
        what = f": {data['command']}" if data.get("command") else ""
        return {"type": "tool_result", "tool_use_id": tool_use_id, "content": f"{data['message']}{what}"}
