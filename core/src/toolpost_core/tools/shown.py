"""What people see of a call: a tool's own words for it, as far as it has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from toolpost import ToolFinished
from toolpost_core.events.isolation import is_own

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolpost import Tool, ToolResultBlock
    from toolpost_core.tools.calls import CallResult

T = TypeVar("T")


def shown(make: Callable[[], T], otherwise: T) -> T:
    """Return what a tool wants shown; a fault there must not cost the call."""
    try:
        return make()
    except BaseException as error:
        if not is_own(error):
            raise
        return otherwise


def text_of(block: ToolResultBlock) -> str:
    """Return what a result says."""
    content = block["content"]
    return content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content)


def finished(result: CallResult, summary: str, tool: Tool[Any] | None = None) -> ToolFinished:
    """Return the event that tells of a result; only a `tool` that ran has a view of it."""
    view = shown(lambda: tool.render_result(result.data), None) if tool is not None and not result.is_error else None
    return ToolFinished(
        tool_use_id=result.call.id,
        tool_name=result.call.name,
        summary=summary,
        is_error=result.is_error,
        text=text_of(result.block),
        view=view,
        duration=result.duration,
    )
