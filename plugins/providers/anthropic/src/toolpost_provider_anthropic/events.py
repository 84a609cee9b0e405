"""From the wire's events to the provider API's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from toolpost import MessageStart, Stop, StreamEvent, ToolUse, Usage

from .blocks import OpenBlock
from .errors import from_error, malformed

_WITHIN: Final = {
    "cache_creation_1h_input_tokens": ("cache_creation", "ephemeral_1h_input_tokens"),
    "web_search_requests": ("server_tool_use", "web_search_requests"),
}
"""What the wire has one object further down."""
_USAGE: Final = tuple(name for name in Usage._fields if name not in _WITHIN)


class Decoder:
    """Takes the events of one answer; `MessageStart` waits for what follows it, so that a retry can stay unseen."""

    def __init__(self) -> None:
        self.done = False
        self._start: MessageStart | None = None
        self._usage: dict[str, int] = {}
        self._open: dict[int, OpenBlock] = {}
        self._stop_reason: str | None = None
        self._called = False

    def feed_text(self, data: str) -> Iterator[StreamEvent]:
        """Take an event as JSON text. Raises ProviderError where it can't be read, or is an error."""
        try:
            event = json.loads(data)
        except (ValueError, RecursionError):
            raise malformed(f"an event is not JSON: {data[:200]!r}") from None
        return self.feed(event)

    def feed(self, event: Any) -> Iterator[StreamEvent]:
        """Take an event; kinds that are not known are passed over."""
        try:
            for made in self._made_of(event):
                if self._start is not None:
                    start, self._start = self._start, None
                    yield start
                yield made
        except (KeyError, TypeError, AttributeError, ValueError):
            raise malformed(f"an event lacks what its kind has: {str(event)[:200]!r}") from None

    def end(self) -> Iterator[StreamEvent]:
        """Take the end of the stream. Raises ProviderError where the answer was not complete."""
        if self.done:
            return
        if self._stop_reason is None or self._open:
            raise malformed("it ended before the answer did")
        yield from self.feed({"type": "message_stop"})

    def _made_of(self, event: Mapping[str, Any]) -> Iterator[StreamEvent]:
        match event["type"]:
            case "content_block_delta":
                yield from self._open[event["index"]].add(event["delta"])
            case "content_block_start":
                opened = self._open[event["index"]] = OpenBlock(event["content_block"])
                yield from opened.begin()
            case "content_block_stop":
                for made in self._open.pop(event["index"]).end():
                    self._called = self._called or isinstance(made, ToolUse)
                    yield made
            case "message_start":
                message = event["message"]
                self._merge(message.get("usage"))
                self._start = MessageStart(str(message["id"]), str(message["model"]), _usage(self._usage))
            case "message_delta":
                self._merge(event.get("usage"))
                self._stop_reason = event["delta"].get("stop_reason") or self._stop_reason
            case "message_stop":
                if self._open:
                    raise malformed("it ended inside a block")
                self.done = True
                yield Stop(self._stop_reason or ("tool_use" if self._called else "end_turn"), _usage(self._usage))
            case "error":
                raise from_error(event["error"])

    def _merge(self, usage: Mapping[str, Any] | None) -> None:
        """Take over what is counted: a later count replaces an earlier one, and a null says nothing."""
        usage = usage or {}
        counts = {name: usage.get(name) for name in _USAGE}
        counts |= {name: (usage.get(outer) or {}).get(inner) for name, (outer, inner) in _WITHIN.items()}
        self._usage |= {name: max(0, int(count)) for name, count in counts.items() if count is not None}


def _usage(counts: Mapping[str, int]) -> Usage:
    return Usage(**counts)
