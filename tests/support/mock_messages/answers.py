"""What the mock answers: turns of blocks and acts, and faults."""

from __future__ import annotations

import json
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from mock_messages.server import Request


class Gate:
    """Holds a stream until a test opens it; works across threads. `reached` is set when the stream stands there."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._open = threading.Event()

    def open(self) -> None:
        """Let the stream go on."""
        self._open.set()

    @property
    def opened(self) -> bool:
        """Whether it was opened."""
        return self._open.is_set()


@dataclass(frozen=True)
class Content:
    """A content block of an answer, with the deltas that it comes in (two by default)."""

    value: Mapping[str, Any]
    pieces: int = 2


@dataclass(frozen=True)
class Act:
    """Something that happens between blocks."""

    kind: str
    value: Any = None


Part: TypeAlias = Content | Act


@dataclass(frozen=True)
class Turn:
    """One answer. `chunk` cuts the stream's bytes every so many; `delay` in seconds comes before its first byte."""

    parts: tuple[Part, ...]
    stop_reason: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    chunk: int = 0
    crlf: bool = False
    delay: float = 0.0
    limit: int | None = None


@dataclass(frozen=True)
class Failure:
    """An HTTP error."""

    status: int
    type: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)


Answer: TypeAlias = str | Turn | Failure
Step: TypeAlias = Answer | Callable[["Request"], Answer | Awaitable[Answer]]


def text(value: str, pieces: int = 2) -> Content:
    """Return a text block."""
    return Content({"type": "text", "text": value}, pieces)


def tool_use(name: str, input: Any = None, id: str = "", *, raw_json: str | None = None, pieces: int = 3) -> Content:
    """Return a tool call; `raw_json` is sent as its input, whatever it is."""
    sent = json.dumps(input or {}) if raw_json is None else raw_json
    return Content({"type": "tool_use", "id": id, "name": name, "input": input or {}, "json": sent}, pieces)


def thinking(value: str, signature: str = "c2ln") -> Content:
    """Return a thinking block."""
    return Content({"type": "thinking", "thinking": value, "signature": signature})


def redacted_thinking(data: str = "eA==") -> Content:
    """Return encrypted thinking."""
    return Content({"type": "redacted_thinking", "data": data})


def block(value: Mapping[str, Any]) -> Content:
    """Return any block, as it is."""
    if value.get("type") == "tool_use" and "json" not in value:
        return tool_use(value["name"], value.get("input"), value.get("id", ""))
    return Content(value)


def turn(
    *parts: Part | str,
    stop_reason: str | None = None,
    usage: Mapping[str, int] | None = None,
    chunk: int = 0,
    crlf: bool = False,
    delay: float = 0.0,
    limit: int | None = None,
) -> Turn:
    """Return an answer; a string is a text block."""
    made = tuple(text(part) if isinstance(part, str) else part for part in parts)
    return Turn(made, stop_reason, usage or {}, chunk, crlf, delay, limit)


def error(status: int, type: str, message: str = "", headers: Mapping[str, str] | None = None) -> Failure:
    """Return an HTTP error."""
    return Failure(status, type, message or type, headers or {})


def cut_after(answer: Turn | str, size: int) -> Turn:
    """Return the answer cut off after so many bytes of the stream: the connection closes there."""
    whole = turn(answer) if isinstance(answer, str) else answer
    return Turn(whole.parts, whole.stop_reason, whole.usage, whole.chunk, whole.crlf, whole.delay, size)


def cut() -> Act:
    """Close the connection here."""
    return Act("cut")


def pause(until: Gate | float) -> Act:
    """Hold the stream here, until a gate is opened or for some seconds."""
    return Act("pause", until)


def stall(seconds: float) -> Act:
    """Send nothing for some seconds."""
    return Act("pause", seconds)


def ping() -> Act:
    """Send a ping event."""
    return Act("ping")


def raw(data: bytes) -> Act:
    """Send these bytes as they are."""
    return Act("raw", data)


def stream_error(type: str = "overloaded_error", message: str = "Overloaded") -> Act:
    """Send an error event within the stream, and close it."""
    return Act("error", {"type": type, "message": message})


def repeat(answer: Answer, times: int) -> Sequence[Answer]:
    """Return the answer so many times, for `*repeat(...)` in a script."""
    return [answer] * times
