"""From a provider's events to the complete blocks of an answer."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from toolpost import Block, MessageStart, Stop, TextDelta, ToolUse, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolpost import ContentBlock, Message, StreamEvent, TextBlock

_FOREIGN: Final = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME: Final = 64


@dataclass
class Answer:
    """An answer as it grows: feed it every event, it yields blocks as they become complete.

    `ids` are those of all calls of the conversation: a call with one of them gets an id of its own. Ids and names are
    kept as the service takes them back, or a tool that a model made up would be refused with every later request.
    """

    id: str = ""
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    stop_reason: str | None = None
    blocks: list[ContentBlock] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    _text: list[str] = field(default_factory=list)

    def feed(self, event: StreamEvent) -> Iterator[ContentBlock | ToolUse]:
        """Take one event; yield the blocks and calls that it completes."""
        match event:
            case TextDelta(text):
                self._text.append(text)
            case Block(content):
                if content["type"] == "text":
                    self._text.clear()  # the block has the text of its deltas
                yield from self._flush()
                yield from self._keep(content)
            case ToolUse():
                yield from self._flush()
                call = self._unique(event)
                self.ids.add(call.id)
                yield from self._keep({"type": "tool_use", "id": call.id, "name": _name_of(call), "input": call.input})
                yield call
            case MessageStart(id, model, usage):
                self.id, self.model, self.usage = id, model, usage
            case Stop(reason, usage):
                yield from self._flush()
                self.stop_reason = reason
                self.usage = usage or self.usage

    def close(self) -> Iterator[ContentBlock]:
        """Yield the text of an answer that broke off."""
        yield from self._flush()

    @property
    def begun(self) -> bool:
        """Whether anything of it came."""
        return bool(self.id or self.blocks or self._text)

    @property
    def message(self) -> Message:
        """The answer as a message; its list is not changed any more once the answer ended."""
        return {"role": "assistant", "content": self.blocks}

    @property
    def text(self) -> str:
        """The answer's text."""
        return "\n".join(cast("TextBlock", block)["text"] for block in self.blocks if block["type"] == "text")

    def _flush(self) -> Iterator[ContentBlock]:
        text, self._text = "".join(self._text), []
        yield from self._keep({"type": "text", "text": text})

    def _keep(self, block: ContentBlock) -> Iterator[ContentBlock]:
        # The service refuses messages with an empty text block.
        if block["type"] == "text" and not cast("TextBlock", block)["text"].strip():
            return
        self.blocks.append(block)
        yield block

    def _unique(self, call: ToolUse) -> ToolUse:
        id = _FOREIGN.sub("_", call.id) or "call"
        if id in self.ids:
            number = next(n for n in itertools.count(2) if f"{id}_{n}" not in self.ids)
            id = f"{id}_{number}"
        return call if id == call.id else call._replace(id=id)


def _name_of(call: ToolUse) -> str:
    return _FOREIGN.sub("_", call.name)[:_LONGEST_NAME] or "_"
