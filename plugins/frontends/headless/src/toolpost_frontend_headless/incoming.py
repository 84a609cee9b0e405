"""What a program writes to us with `--input-format stream-json`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from toolpost import Priority

PRIORITIES: Final = ("now", "next", "later")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_WITH_A_SOURCE: Final = ("image", "document")
_OF_A_TURN: Final = ("tool_use", "tool_result", "thinking", "redacted_thinking")
_IGNORED = ("keep_alive", "control_response", "control_cancel_request")


@dataclass(frozen=True)
class Prompt:
    """A user message: text or content blocks, the uuid that its record is to have, and when it is read.

    One that does not say so waits for the end of the turn that runs: so each has a result of its own.
    """

    content: str | Sequence[Mapping[str, Any]]
    uuid: str | None = None
    priority: Priority = "later"


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
    content, priority = message.get("content"), value.get("priority", "later")
    if priority not in PRIORITIES:
        return Bad(f'its "priority" is {priority!r}; {", ".join(PRIORITIES)} are understood')
    if isinstance(content, str) and content.strip():
        return Prompt(content, _uuid(value), priority)
    if isinstance(content, list) and (blocks := [block for block in content if not _is_blank(block)]):
        wrong = next((wrong for block in blocks if (wrong := _wrong_with(block))), None)
        return Bad(wrong) if wrong is not None else Prompt(blocks, _uuid(value), priority)
    return Bad('its message\'s "content" must be text that is not empty, or a list of content blocks with a "type"')


def _uuid(value: Mapping[str, Any]) -> str | None:
    given = value.get("uuid")
    return given if isinstance(given, str) and _UUID.fullmatch(given) else None


def _is_blank(block: Any) -> bool:
    """Whether it is a text without words, which the service would refuse."""
    return isinstance(block, dict) and block.get("type") == "text" and not str(block.get("text", "")).strip()


def _wrong_with(block: Any) -> str | None:
    """Say what a content block lacks; one that could not be read back would be lost with its whole session."""
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        return 'each content block of its message must be an object with a "type"'
    kind = block["type"]
    if kind == "text" and not isinstance(block.get("text"), str):
        return 'a content block of the type "text" needs "text", a string'
    if kind in _WITH_A_SOURCE and not isinstance(block.get("source"), dict):
        return f'a content block of the type "{kind}" needs "source", an object'
    return f"its message holds a block of the type {kind!r}, which a user can't say" if kind in _OF_A_TURN else None


def _control(value: Mapping[str, Any]) -> Incoming:
    id, request = value.get("request_id"), value.get("request")
    if not isinstance(id, str) or not id:
        return Bad('a control_request needs a "request_id", a string')
    if not isinstance(request, dict):
        return Control(id, "", {})
    return Control(id, str(request.get("subtype", "")), request)


def _kind(value: Any) -> str:
    return {list: "array", str: "string", bool: "boolean", type(None): "null"}.get(type(value), "number")
