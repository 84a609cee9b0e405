"""Raw Messages API streaming events, made anew from a provider's events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from uuid import uuid4

from toolpost import (
    Block,
    InputDelta,
    MessageStart,
    Stop,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolUse,
    ToolUseStart,
    Usage,
)

Event = dict[str, Any]

_EMPTY: Mapping[str, Event] = {
    "text": {"type": "text", "text": ""},
    "thinking": {"type": "thinking", "thinking": "", "signature": ""},
}


def fresh_id() -> str:
    """Return a new UUID."""
    return str(uuid4())


def usage_object(usage: Usage) -> dict[str, Any]:
    """Return usage as the Messages API writes it; which service tier answered is not known here."""
    hour = usage.cache_creation_1h_input_tokens
    return {
        "input_tokens": usage.input_tokens,
        "cache_creation_input_tokens": usage.cache_creation_input_tokens,
        "cache_read_input_tokens": usage.cache_read_input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_creation_input_tokens - hour,
            "ephemeral_1h_input_tokens": hour,
        },
        "server_tool_use": {"web_search_requests": usage.web_search_requests, "web_fetch_requests": 0},
        "service_tier": None,
    }


class WireStream:
    """Turns one provider event after another into the streaming events of the Messages API.

    Every message_start is followed by its message_stop and every block that was started is stopped, also where a
    provider leaves out starts or deltas, or where an answer breaks off and begins anew.
    """

    def __init__(self, model: str = "", new_id: Callable[[], str] = fresh_id) -> None:
        self._model = model
        self._new_id = new_id
        self._in_message = False
        self._index = 0
        self._open: Event | None = None
        self._input_seen = False

    def feed(self, event: StreamEvent) -> Iterator[Event]:
        """Yield the wire events that `event` stands for."""
        if isinstance(event, MessageStart):
            yield from self._start(event)
        elif isinstance(event, TextDelta):
            yield from self._delta("text", {"type": "text_delta", "text": event.text})
        elif isinstance(event, ThinkingDelta):
            yield from self._delta("thinking", {"type": "thinking_delta", "thinking": event.text})
        elif isinstance(event, ToolUseStart):
            yield from self._open_tool(event.id, event.name)
        elif isinstance(event, InputDelta):
            yield from self._input(event.json)
        elif isinstance(event, Block):
            yield from self._block(dict(event.content))
        elif isinstance(event, ToolUse):
            yield from self._tool(event)
        elif isinstance(event, Stop):
            yield from self._stop(event)

    def _start(self, event: MessageStart) -> Iterator[Event]:
        yield from self.close()
        self._in_message, self._index = True, 0
        message: Event = {
            "id": event.id,
            "type": "message",
            "role": "assistant",
            "model": event.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage_object(event.usage),
        }
        yield {"type": "message_start", "message": message}

    def _begin(self, block: Event) -> Iterator[Event]:
        if not self._in_message:
            yield from self._start(MessageStart(f"msg_{self._new_id().replace('-', '')}", self._model))
        yield from self._end_block()
        self._open, self._input_seen = block, False
        yield {"type": "content_block_start", "index": self._index, "content_block": block}

    def _send(self, delta: Event) -> Event:
        return {"type": "content_block_delta", "index": self._index, "delta": delta}

    def _delta(self, kind: str, delta: Event) -> Iterator[Event]:
        if self._open is None or self._open["type"] != kind:
            yield from self._begin(dict(_EMPTY[kind]))
        yield self._send(delta)

    def _open_tool(self, id: str, name: str) -> Iterator[Event]:
        yield from self._begin({"type": "tool_use", "id": id, "name": name, "input": {}})

    def _input(self, text: str) -> Iterator[Event]:
        if self._open is not None and self._open["type"] == "tool_use":
            self._input_seen = True
            yield self._send({"type": "input_json_delta", "partial_json": text})

    def _block(self, block: Event) -> Iterator[Event]:
        kind = block["type"]
        if self._open is None or self._open["type"] != kind:
            if kind not in _EMPTY:
                yield from self._begin(block)
            elif block[kind]:
                yield from self._delta(kind, {"type": f"{kind}_delta", kind: block[kind]})
        if kind == "thinking" and self._open is not None and block.get("signature"):
            yield self._send({"type": "signature_delta", "signature": block["signature"]})
        yield from self._end_block()

    def _tool(self, call: ToolUse) -> Iterator[Event]:
        if self._open is None or self._open.get("id") != call.id:
            yield from self._open_tool(call.id, call.name)
        if not self._input_seen:
            text = call.raw if call.raw is not None else json.dumps(call.input)
            yield self._send({"type": "input_json_delta", "partial_json": text})
        yield from self._end_block()

    def _stop(self, event: Stop) -> Iterator[Event]:
        if not self._in_message:
            yield from self._start(MessageStart(f"msg_{self._new_id().replace('-', '')}", self._model))
        yield from self._end_block()
        usage = usage_object(event.usage or Usage())
        yield {
            "type": "message_delta",
            "delta": {"stop_reason": event.reason, "stop_sequence": None},
            "usage": usage,
        }
        yield {"type": "message_stop"}
        self._in_message = False

    def close(self) -> Iterator[Event]:
        """Yield what ends a message that broke off."""
        if self._in_message:
            yield from self._end_block()
            yield {"type": "message_stop"}
            self._in_message = False

    def _end_block(self) -> Iterator[Event]:
        if self._open is not None:
            yield {"type": "content_block_stop", "index": self._index}
            self._open, self._index = None, self._index + 1
