"""A call on its way through the pipeline: found, permitted or refused, and done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolpost._frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolpost import Message, Tool, ToolContext, ToolResultBlock, ToolUse
    from toolpost.tools import ContextModifier
    from toolpost_core.tools.permit import Candidate, Ruling
    from toolpost_core.tools.pool import Entry


@frozen()
class CallResult:
    """What one call came to, for the loop. `stop` says that a hook ends the turn, `was_denied` that a recorded one was.

    `deferred` says that a hook put it off: it has no result yet, and `block` is for where it can't wait. `observed` is the
    input as listeners are told of it, where no ruling has that.
    """

    call: ToolUse
    block: ToolResultBlock
    data: Any = None
    new_messages: tuple[Message, ...] = ()
    context_modifier: ContextModifier | None = None
    duration: float = 0.0
    ruling: Ruling | None = None
    stop: str | None = None
    was_denied: bool = False
    deferred: bool = False
    observed: Mapping[str, Any] | None = None

    @property
    def told_input(self) -> Mapping[str, Any]:
        """The input as listeners are told of it: what ran, with whole paths."""
        if self.ruling is not None:
            return self.ruling.request.tool_input
        return self.call.input if self.observed is None else self.observed

    @property
    def denied(self) -> bool:
        """Whether a gate refused it."""
        return self.was_denied or (self.ruling is not None and self.is_error and not self.duration)

    @property
    def is_error(self) -> bool:
        """Whether the model reads it as a failure."""
        return bool(self.block.get("is_error"))


class PutOff(Exception):
    """Raised when a hook puts a call off until the run is taken up again."""


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
