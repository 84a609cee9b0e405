"""What MessageDisplay listeners make of the model's text on its way to front ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import toolpost
from toolpost import Block, MessageStart, Stop, TextDelta

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from toolpost import ContentBlock, StreamEvent, TextBlock
    from toolpost.events.turn import MessageDisplay


@dataclass
class Display:
    """Holds an answer's text back until a line is whole, and passes on what `ask` returns for it.

    Only what is shown changes: the answer is put together from what the model said.
    """

    ask: Callable[[MessageDisplay], Awaitable[str]]
    turn_id: str = ""
    _message_id: str = ""
    _index: int = 0
    _begun: str = ""
    _said: str = ""
    _told: str = ""
    _shown: dict[str, str] = field(default_factory=dict)

    async def pieces(self, event: StreamEvent) -> Sequence[StreamEvent]:
        """Return what is shown in the place of an event."""
        match event:
            case MessageStart(id):
                self._message_id, self._index = id, 0
                self._said = self._told = self._begun = ""  # of an answer that broke off
                return [event]
            case TextDelta(text):
                self._said += text
                lines, newline, self._begun = (self._begun + text).rpartition("\n")
                return await self._piece(lines + newline) if newline else []
            case Block({"type": "text"}):
                return await self._block(event)
            case _:
                rest = await self._rest(final=isinstance(event, Stop))
                return [*rest, event]

    def block(self, block: ContentBlock) -> ContentBlock:
        """Return a complete block as it is shown; of an answer that broke off, what nobody was asked about stays."""
        if block["type"] != "text":
            return block
        text = cast("TextBlock", block)["text"]
        shown = self._told + self._begun if text == self._said else self._shown.get(text, text)
        return {"type": "text", "text": shown}

    async def _block(self, event: Block) -> Sequence[StreamEvent]:
        """A whole text: what its deltas had of it was shown already."""
        text = cast("TextBlock", event.content)["text"]
        if not self._said:
            self._said = self._begun = text
        rest = await self._rest()
        return [*rest, Block({"type": "text", "text": self._shown.get(text, text)})]

    async def _rest(self, *, final: bool = False) -> Sequence[StreamEvent]:
        """Show the line that was begun; the text is complete with it."""
        rest = await self._piece(self._begun, final=final) if self._begun or (final and self._index) else []
        if self._said:
            self._shown[self._said] = self._told
        self._said = self._told = self._begun = ""
        return rest

    async def _piece(self, delta: str, *, final: bool = False) -> Sequence[StreamEvent]:
        value = toolpost.MessageDisplay(
            turn_id=self.turn_id, message_id=self._message_id, index=self._index, final=final, delta=delta
        )
        self._index += 1
        shown = await self.ask(value)
        self._told += shown
        return [TextDelta(shown)] if shown else []
