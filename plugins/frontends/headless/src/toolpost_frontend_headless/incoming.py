"""What a program writes to us with `--input-format stream-json`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_IGNORED = ("keep_alive", "control_response", "control_cancel_request")


@dataclass(frozen=True)
class Prompt:
    """A user message: text or content blocks, and the uuid that its record is to have."""

    content: str | Sequence[Mapping[str, Any]]
    uuid: str | None = None


@dataclass(frozen=True)
class Control:
    """A control request, to be answered under its id."""

    id: str
    subtype: str
    request: Mapping[str, Any]


@dataclass(frozen=True)
class Bad:
    """A line that can't be used, and why."""

    reason: str


Incoming: TypeAlias = Prompt | Control | Bad


def parse(line: bytes) -> Incoming | None:
    """Read one line; None for a blank one and for lines that need nothing done."""
    if not line.strip():
        return None
    try:
        value = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return Bad(f"it is not UTF-8 (byte {error.start})")
    except json.JSONDecodeError as error:
        return Bad(f"it is not JSON ({error.msg} at column {error.colno})")
    except (ValueError, RecursionError):
        return Bad("it is JSON that is nested too deeply, or holds a number that is too long")
    if not isinstance(value, dict):
        return Bad(f"it is a JSON {_kind(value)}, not an object")
    kind = value.get("type")
    if kind == "user":
        return _prompt(value)
    if kind == "control_request":
        return _control(value)
    if kind in _IGNORED:
        return None
    return Bad(f'its "type" is {kind!r}; "user" and "control_request" are understood')


def _prompt(value: Mapping[str, Any]) -> Incoming:
    message = value.get("message")
    if not isinstance(message, dict):
        return Bad('its "message" must be an object such as {"role": "user", "content": "…"}')
    if message.get("role", "user") != "user":
        return Bad(f'its message\'s "role" is {message["role"]!r}; only "user" is allowed')
    content = message.get("content")
    if isinstance(content, str) and content.strip():
        return Prompt(content, _uuid(value))
    if isinstance(content, list) and content and all(_is_block(block) for block in content):
        return Prompt(content, _uuid(value))
    return Bad('its message\'s "content" must be text that is not empty, or a list of content blocks with a "type"')


def _uuid(value: Mapping[str, Any]) -> str | None:
    given = value.get("uuid")
    return given if isinstance(given, str) and _UUID.fullmatch(given) else None


def _is_block(block: Any) -> bool:
    return isinstance(block, dict) and isinstance(block.get("type"), str)


def _control(value: Mapping[str, Any]) -> Incoming:
    id, request = value.get("request_id"), value.get("request")
    if not isinstance(id, str) or not id:
        return Bad('a control_request needs a "request_id", a string')
    if not isinstance(request, dict):
        return Control(id, "", {})
    return Control(id, str(request.get("subtype", "")), request)


def _kind(value: Any) -> str:
    return {list: "array", str: "string", bool: "boolean", type(None): "null"}.get(type(value), "number")
