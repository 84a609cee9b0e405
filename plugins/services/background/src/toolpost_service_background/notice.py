"""What the model and front ends are told of a task that ended."""

from __future__ import annotations

from typing import Any, Final
from xml.sax.saxutils import escape

from toolpost import Notice, TaskInfo

NOUNS: Final = {"local_bash": "Background command", "local_agent": "Agent"}
"""What a task of a kind is called."""


def summary(task: TaskInfo) -> str:
    """Return one line that says which task ended, and how."""
    noun = NOUNS.get(task.kind, "Background task")
    how = f" ({task.ending})" if task.ending else ""
    return f'{noun} "{" ".join(task.description.split())}" {task.status}{how}'


def for_model(task: TaskInfo) -> str:
    """Return the text that the model reads."""
    fields = {
        "task-id": task.task_id,
        "tool-use-id": task.tool_use_id,
        "output-file": str(task.output_file or ""),
        "status": task.status,
        "summary": summary(task),
    }
    # A description is written by a model or taken from a command: it must not end the tag.
    lines = [f"<{name}>{escape(value)}</{name}>" for name, value in fields.items() if value]
    return "\n".join(["<task-notification>", *lines, "</task-notification>"])


def for_front_ends(task: TaskInfo) -> Notice:
    """Return what is shown to a person and to programs."""
    data: dict[str, Any] = {"task_id": task.task_id, "status": task.status, "summary": summary(task)}
    data |= {"tool_use_id": task.tool_use_id} if task.tool_use_id else {}
    data |= {"output_file": str(task.output_file)} if task.output_file is not None else {}
    return Notice(summary(task), kind="task_notification", data=data)
