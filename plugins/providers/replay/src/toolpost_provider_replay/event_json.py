"""Events as JSON objects: the class's name, the time, and the fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolpost import (
    Block,
    InputDelta,
    MessageStart,
    PromptTooLong,
    ProviderError,
    Retrying,
    Stop,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolUse,
    ToolUseStart,
    Usage,
)

from .answers import Step

_KINDS: Final[Mapping[str, type[StreamEvent]]] = {
    kind.__name__: kind
    for kind in (MessageStart, TextDelta, ThinkingDelta, ToolUseStart, InputDelta, Block, ToolUse, Retrying, Stop)
}
_TEXTS: Final = ("id", "model", "text", "json", "name", "reason", "error")
_ERROR_FIELDS: Final = ("kind", "status", "retriable", "retry_after")


def event_to_json(at: float, event: StreamEvent | ProviderError) -> dict[str, Any]:
    """Return an event's JSON object; `at` is in seconds since the request."""
    head = {"at": round(at, 3), "event": type(event).__name__}
    if isinstance(event, ProviderError):
        over = {"tokens_over": event.tokens_over} if isinstance(event, PromptTooLong) else {}
        head["event"] = "PromptTooLong" if over else "ProviderError"
        return head | {"message": str(event)} | {name: getattr(event, name) for name in _ERROR_FIELDS} | over
    fields = event._asdict()
    if isinstance(fields.get("usage"), Usage):
        fields["usage"] = fields["usage"]._asdict()
    return head | fields


def event_from_json(value: Mapping[str, Any]) -> Step:
    """Return the event of a JSON object. Raises ValueError."""
    fields = dict(value)
    at, name = fields.pop("at", 0.0), fields.pop("event")
    if isinstance(at, bool) or not isinstance(at, int | float) or not at >= 0:
        raise ValueError(f"`at` is a number of seconds since the request, not {at!r}")
    try:
        if name in ("ProviderError", "PromptTooLong"):
            return Step(at, _error(name, fields))
        if name not in _KINDS:
            raise ValueError(f"there is no event {name!r}; there are {', '.join((*_KINDS, 'ProviderError'))}")
        if fields.get("usage") is not None:
            fields["usage"] = Usage(**fields["usage"])
        _check(fields)
        return Step(at, _KINDS[name](**fields))
    except TypeError as error:
        raise ValueError(f"the event {name} has other fields: {error}") from None


def _check(fields: Mapping[str, Any]) -> None:
    for key, value in fields.items():
        wanted = dict if key in ("content", "input") else str if key in _TEXTS else object
        if not isinstance(value, wanted):
            raise ValueError(f"`{key}` can't be {value!r:.80}")
    if not isinstance(fields.get("content", {"type": ""}).get("type"), str):
        raise ValueError("`content` is a block with a `type`")


def _error(name: str, fields: dict[str, Any]) -> ProviderError:
    message = fields.pop("message")
    if name == "PromptTooLong":
        fields.pop("kind", None)
        return PromptTooLong(message, **fields)
    return ProviderError(message, **fields)
