"""The tool TodoWrite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from toolpost import Allow, Progress, StashKey, Tool, ToolResult

if TYPE_CHECKING:
    from toolpost import Decision, PermissionScope, ToolContext, ToolResultBlock, View


@dataclass(frozen=True)
class Todo:
    """One task."""

    content: Annotated[str, "What to do: Run the tests"]
    status: Literal["pending", "in_progress", "completed"]
    activeForm: Annotated[str, "While doing it: Running the tests"]  # noqa: N815 - the name on the wire


@dataclass(frozen=True)
class TodoInput:
    """The whole list; it replaces the one before."""

    todos: Annotated[list[Todo], "The whole list, in order"]


TODOS: StashKey[tuple[Todo, ...]] = StashKey("todos")
"""The session's list; a finished one is empty."""


class TodoWrite(Tool[TodoInput]):
    """Keeps the task list of this session, which the person sees.

    - For work of three or more steps, or several tasks asked for at once; not for one simple task or a question.
    - Send the whole list each time. Exactly one task is in_progress while you work; begin it before the work.
    - Mark a task completed as soon as it is done, and only if it is: tests fail or it is blocked, then leave it open.
    - Add tasks that turn up, remove those no longer needed.
    """

    name = "TodoWrite"
    search_hint = "plan task list progress"
    input_model = TodoInput

    def is_read_only(self, input: TodoInput) -> bool:
        """Say yes: only the session's own list changes."""
        del input
        return True

    async def check_permissions(self, input: TodoInput, scope: PermissionScope) -> Decision | None:
        """Ask for nothing: only the session's own list changes."""
        del input, scope
        return Allow("it changes nothing but the session's own list")

    def activity(self, input: TodoInput) -> str:
        """Say what is being done now."""
        return next((todo.activeForm for todo in input.todos if todo.status == "in_progress"), "Updating the task list")

    def render_call(self, input: TodoInput) -> str:
        """Say how far the list is."""
        return f"{sum(todo.status == 'completed' for todo in input.todos)}/{len(input.todos)} done"

    async def validate_input(self, input: TodoInput, ctx: ToolContext) -> str | None:
        """Refuse tasks without a text."""
        del ctx
        empty = [str(number) for number, todo in enumerate(input.todos, 1) if not todo.content.strip()]
        return f"Task {', '.join(empty)} has no content; say what to do." if empty else None

    async def call(self, input: TodoInput, ctx: ToolContext, progress: Progress) -> ToolResult:
        """Replace the list."""
        del progress
        old = ctx.stash.get(TODOS, ())
        done = all(todo.status == "completed" for todo in input.todos)
        ctx.stash[TODOS] = () if done else tuple(input.todos)
        return ToolResult({"oldTodos": _plain(old), "newTodos": _plain(input.todos)})

    def to_result_block(self, data: Any, tool_use_id: str) -> ToolResultBlock:
        """Tell the model to go on, and with what."""
        return {"type": "tool_result", "tool_use_id": tool_use_id, "content": _next_step(data["newTodos"])}

    def render_result(self, data: Any) -> View | None:
        """Show the list."""
        from toolpost import Checklist

        return Checklist(tuple((todo["content"], todo["status"]) for todo in data["newTodos"]))


def _plain(todos: Sequence[Todo]) -> list[dict[str, Any]]:
    return [asdict(todo) for todo in todos]


def _next_step(todos: Sequence[dict[str, Any]]) -> str:
    by_status = {
        status: [todo["content"] for todo in todos if todo["status"] == status] for status in ("in_progress", "pending")
    }
    now, later = by_status["in_progress"], by_status["pending"]
    if not todos:
        return "The task list is empty now. Go on."
    if not now and not later:
        return "All tasks are completed; the list is cleared. Check the result, then tell the person."
    if not now:
        return f"The task list is saved. Go on: set the next task in_progress and do it: {later[0]}"
    note = " Only one task should be in_progress at a time." if len(now) > 1 else ""
    return f"The task list is saved.{note} Go on with the task in progress: {now[0]}"
