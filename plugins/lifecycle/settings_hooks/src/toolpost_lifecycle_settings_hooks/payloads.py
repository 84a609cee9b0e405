"""The JSON that hooks get, with the field names that existing hooks know (compat.md 2.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import PurePath
from typing import Any

from toolpost import EventBase

# Facts of ours that the event's JSON does not have.
_LEFT_OUT = {
    "PreToolUse": {"read_only"},
    "PermissionRequest": {"tool_use_id", "reason"},
    "BeforeModel": {"request"},
    "AfterModel": {"request"},
}
_LEFT_OUT_IF_EMPTY = frozenset(
    {
        "agent_type",
        "error_details",
        "globs",
        "last_assistant_message",
        "model",
        "notification_type",
        "permission_suggestions",
        "requested_schema",
        "session_title",
        "task_description",
        "title",
    }
)
_NULL_IF_MISSING = frozenset({"requested_model", "tool_response"})


def payload_of(event: str, value: EventBase) -> dict[str, Any]:
    """Return the payload of an event; `event` is its name in settings."""
    payload = _common(event, value)
    for field in fields(value):
        name, content = field.name, getattr(value, field.name)
        if name == "origin" or name in _LEFT_OUT.get(event, ()):
            continue
        if content is None and name not in _NULL_IF_MISSING:
            continue
        if name in _LEFT_OUT_IF_EMPTY and not content:
            continue
        if name == "duration":
            payload["duration_ms"] = round(content * 1000)
        else:
            payload[name] = plain(content)
    return payload | _of_request(value)


def _common(event: str, value: EventBase) -> dict[str, Any]:
    origin = value.origin
    given = {
        "session_id": origin.session_id,
        "transcript_path": str(origin.transcript_path or ""),
        "cwd": str(origin.cwd),
        "permission_mode": origin.permission_mode,
        "hook_event_name": event,
        "prompt_id": origin.prompt_id,
        "agent_id": origin.agent_id,
        "agent_type": origin.agent_type,
        "effort": {"level": origin.effort} if origin.effort else None,
    }
    return {name: content for name, content in given.items() if content is not None}


def _of_request(value: EventBase) -> dict[str, Any]:
    """What hooks round a request to the model get of it: its size and not its whole text."""
    request = getattr(value, "request", None)
    if request is None:
        return {}
    return {"model": request.model, "message_count": len(request.messages), "tool_count": len(request.tools)}


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, PurePath):
        return str(value)
    if hasattr(value, "_asdict"):  # a named tuple, such as Usage
        return plain(value._asdict())
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes | bytearray):
        return [plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    return str(value)
