"""From an answer of a cassette to the events that are played, each with its time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from toolpost import (
    Block,
    InputDelta,
    MessageStart,
    ModelRequest,
    ProviderError,
    Retrying,
    Stop,
    StreamEvent,
    TextDelta,
    ToolUse,
    ToolUseStart,
    Usage,
)

from .conversation import Conversation, NotFilled

FIRST_PAUSE: Final = 0.4
WORD_PAUSE: Final = 0.05
CALL_PAUSE: Final = 0.3
"""Seconds before a hand-written answer, after each of its words, and before a call."""
CHARS_PER_TOKEN: Final = 4


class Step(NamedTuple):
    """An event and when it is played, in seconds since the request; an error ends the answer."""

    at: float
    event: StreamEvent | ProviderError


@dataclass(frozen=True)
class Say:
    """Text, streamed word by word."""

    text: str


@dataclass(frozen=True)
class Call:
    """A tool call."""

    name: str
    input: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One line of a cassette."""

    path: Path
    line: int
    parts: Sequence[Say | Call | Step]
    when: re.Pattern[str] | None = None
    name: str | None = None
    next: str | None = None


def plan(answer: Answer, conversation: Conversation, request: ModelRequest) -> Iterator[Step]:
    """Return the steps of an answer. Raises ProviderError at once where a placeholder finds nothing."""
    parts = _filled(answer, conversation)
    events = [part.event for part in parts if isinstance(part, Step)]
    prompt = Usage(input_tokens=_size((request.messages, [block.text for block in request.system])))
    first = next((event for event in events if not isinstance(event, Retrying)), None)
    if not isinstance(first, MessageStart | ProviderError):
        opening = Step(0.0, MessageStart(f"replay_{len(request.messages)}", request.model, prompt))
        # Nothing but Retrying may come before the start.
        at = sum(1 for part in parts if isinstance(part, Step) and isinstance(part.event, Retrying))
        parts = [*parts[:at], opening, *parts[at:]]
    return _steps(answer, parts, f"replay_{len(request.messages)}", prompt)


def _steps(answer: Answer, parts: Sequence[Say | Call | Step], id: str, prompt: Usage) -> Iterator[Step]:
    at, calls, written = FIRST_PAUSE, 0, 0
    for part in parts:
        match part:
            case Say(text):
                written += len(text)
                for word in re.findall(r"\S+\s*|\s+", text):
                    at += WORD_PAUSE
                    yield Step(at, TextDelta(word))
                yield Step(at, Block({"type": "text", "text": text}))
            case Call(name, input):
                at, calls, told = at + CALL_PAUSE, calls + 1, json.dumps(input, ensure_ascii=False)
                written += len(name) + len(told)
                yield Step(at, ToolUseStart(f"{id}_{calls}", name))
                yield Step(at, InputDelta(told))
                yield Step(at, ToolUse(f"{id}_{calls}", name, dict(input)))
            case Step():
                at = max(at, part.at)
                yield part
                if isinstance(part.event, Stop | ProviderError):
                    return
    recorded = any(isinstance(part, Step) and not isinstance(part.event, MessageStart) for part in parts)
    if recorded and not any(isinstance(part, Say | Call) for part in parts):
        error = f"{answer.path}:{answer.line}: the answer broke off here when it was recorded: it has no Stop."
        yield Step(at, ProviderError(error, kind="connection"))
        return
    usage = prompt._replace(output_tokens=written // CHARS_PER_TOKEN + 1)
    yield Step(at, Stop("tool_use" if calls else "end_turn", usage))


def _filled(answer: Answer, conversation: Conversation) -> list[Say | Call | Step]:
    parts: list[Say | Call | Step] = []
    try:
        for part in answer.parts:
            match part:
                case Say(text):
                    parts.append(Say(conversation.fill(text)))
                case Call(name, input):
                    parts.append(Call(name, conversation.fill(dict(input))))
                case _:
                    parts.append(part)
    except NotFilled as error:
        raise ProviderError(f"{answer.path}:{answer.line}: {error}.", kind="invalid_request") from None
    return parts


def _size(value: Any) -> int:
    return _chars(value) // CHARS_PER_TOKEN


def _chars(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(_chars(inner) for inner in value.values())
    return sum(_chars(inner) for inner in value) if isinstance(value, Sequence) else 0
