"""An answer as events of the Messages stream."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from mock_messages.answers import Act, Content, Turn


def events(answer: Turn, serial: int, model: str, usage: Mapping[str, int]) -> Iterator[bytes | Act]:
    """Yield the bytes of each event, and the acts between them."""
    end = "\r\n" if answer.crlf else "\n"
    start: dict[str, Any] = {
        "id": f"msg_mock{serial:04d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
    }
    start |= {"stop_reason": None, "stop_sequence": None, "usage": {**usage, "output_tokens": 1}}
    yield _event("message_start", {"message": start}, end)
    index = 0
    for part in answer.parts:
        if isinstance(part, Act):
            yield part
            continue
        yield from _block(part, index, serial, end)
        index += 1
    stop = answer.stop_reason or stop_of(answer)
    spent = {"output_tokens": usage["output_tokens"]}
    yield _event("message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": spent}, end)
    yield _event("message_stop", {}, end)


def whole(answer: Turn, serial: int, model: str, usage: Mapping[str, int]) -> dict[str, Any]:
    """Return the answer as one message, for a request that does not stream."""
    content = [_full(part, index, serial) for index, part in enumerate(contents(answer))]
    return {
        "id": f"msg_mock{serial:04d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": answer.stop_reason or stop_of(answer),
        "stop_sequence": None,
        "usage": dict(usage),
    }


def contents(answer: Turn) -> list[Content]:
    """Return the content blocks of an answer."""
    return [part for part in answer.parts if isinstance(part, Content)]


def stop_of(answer: Turn) -> str:
    """Return the stop reason that an answer has unless it names one."""
    return "tool_use" if any(part.value["type"] == "tool_use" for part in contents(answer)) else "end_turn"


def _full(part: Content, index: int, serial: int) -> dict[str, Any]:
    value = {key: item for key, item in part.value.items() if key != "json"}
    if value["type"] == "tool_use":
        value["id"] = value["id"] or f"toolu_{serial:04d}_{index}"
    return value


def _block(part: Content, index: int, serial: int, end: str) -> Iterator[bytes]:
    value = _full(part, index, serial)
    opened, deltas = _opened(part, value)
    yield _event("content_block_start", {"index": index, "content_block": opened}, end)
    for delta in deltas:
        yield _event("content_block_delta", {"index": index, "delta": delta}, end)
    yield _event("content_block_stop", {"index": index}, end)


def _opened(part: Content, value: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    match value["type"]:
        case "text":
            pieces = _cut(value["text"], part.pieces)
            return {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces]
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": p} for p in _cut(value["thinking"], part.pieces)]
            return {**value, "thinking": "", "signature": ""}, [
                *deltas,
                {"type": "signature_delta", "signature": value["signature"]},
            ]
        case "tool_use":
            pieces = _cut(part.value["json"], part.pieces)
            return {**value, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        case _:
            return value, []


def _cut(whole: str, pieces: int) -> list[str]:
    size = max(1, -(-len(whole) // max(1, pieces)))
    return [whole[at : at + size] for at in range(0, len(whole), size)] or [""]


def _event(kind: str, data: Mapping[str, Any], end: str) -> bytes:
    body = json.dumps({"type": kind, **data}, ensure_ascii=False)
    return f"event: {kind}{end}data: {body}{end}{end}".encode("utf-8", "surrogatepass")


def ping_event() -> bytes:
    """Return a ping."""
    return b'event: ping\ndata: {"type": "ping"}\n\n'


def error_event(error: Mapping[str, str]) -> bytes:
    """Return an error event."""
    return _event("error", {"error": dict(error)}, "\n")
