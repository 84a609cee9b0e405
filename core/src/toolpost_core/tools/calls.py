"""A call on its way through the pipeline: found, permitted or refused, and done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolpost._frozen import frozen

if TYPE_CHECKING:
    from toolpost import Message, Tool, ToolContext, ToolResultBlock, ToolUse
    from toolpost.tools import ContextModifier
    from toolpost_core.tools.permit import Candidate, Ruling
    from toolpost_core.tools.pool import Entry


@frozen()
class CallResult:
    """What one call came to, for the loop. `stop` says that a hook ends the turn, `was_denied` that a recorded one was."""

    call: ToolUse
    block: ToolResultBlock
    data: Any = None
    new_messages: tuple[Message, ...] = ()
    context_modifier: ContextModifier | None = None
    duration: float = 0.0
    ruling: Ruling | None = None
    stop: str | None = None
    was_denied: bool = False

    @property
    def denied(self) -> bool:
        """Whether a gate refused it."""
        return self.was_denied or (self.ruling is not None and self.is_error and not self.duration)

    @property
    def is_error(self) -> bool:
        """Whether the model reads it as a failure."""
        return bool(self.block.get("is_error"))


class Refused(Exception):
    """Raised when a gate refuses a call; `text` is what the model reads."""

    def __init__(self, text: str, ruling: Ruling | None = None, *, stop: str | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.ruling = ruling
        self.stop = stop


@frozen()
class Found:
    """A call whose tool is known."""

    call: ToolUse
    entry: Entry
    ctx: ToolContext

    @property
    def tool(self) -> Tool[Any]:
        """The tool."""
        return self.entry.tool


@frozen()
class Permitted:
    """A call that every gate let pass, with the input that will run. `notes` go to the model with the result."""

    found: Found
    candidate: Candidate
    ruling: Ruling
    notes: tuple[str, ...] = ()
    stop: str | None = None
