"""Messages as they stand on the wire of the Messages API.

They are JSON-shaped and, once sent, never mutated: a change makes a new message, so that the bytes of the cached
prefix do not move.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, cast


class TextBlock(TypedDict):
    """Text of either side."""

    type: Literal["text"]
    text: str


class ThinkingBlock(TypedDict):
    """The model's reasoning; goes back byte for byte with its signature."""

    type: Literal["thinking"]
    thinking: str
    signature: str


class RedactedThinkingBlock(TypedDict):
    """Reasoning that the service encrypted."""

    type: Literal["redacted_thinking"]
    data: str


class Base64Source(TypedDict):
    """Inline bytes."""

    type: Literal["base64"]
    media_type: str
    data: str


class UrlSource(TypedDict):
    """Bytes that the service fetches."""

    type: Literal["url"]
    url: str


class ImageBlock(TypedDict):
    """A picture."""

    type: Literal["image"]
    source: Base64Source | UrlSource


class DocumentBlock(TypedDict):
    """A document such as a PDF."""

    type: Literal["document"]
    source: Base64Source | UrlSource
    title: NotRequired[str]


class ToolUseBlock(TypedDict):
    """A call that the model asks for; `input` is always an object."""

    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]


class ToolResultBlock(TypedDict):
    """The answer to one `tool_use`."""

    type: Literal["tool_result"]
    tool_use_id: str
    content: str | list[ResultContent]
    is_error: NotRequired[bool]


ResultContent: TypeAlias = TextBlock | ImageBlock | DocumentBlock | Mapping[str, Any]
ContentBlock: TypeAlias = (
    TextBlock
    | ThinkingBlock
    | RedactedThinkingBlock
    | ImageBlock
    | DocumentBlock
    | ToolUseBlock
    | ToolResultBlock
    | Mapping[str, Any]
)
"""A block of a message. Blocks of unknown types are kept and passed back as they came."""


class Message(TypedDict):
    """One message of a conversation."""

    role: Literal["user", "assistant"]
    content: str | list[ContentBlock]


def text_of(message: Message) -> str:
    """Return the text blocks of a message, joined by newlines."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return "\n".join(cast("TextBlock", block)["text"] for block in content if block["type"] == "text")


def object_in(answer: str) -> dict[str, Any] | None:
    """Read an answer that was to be one JSON object, perhaps in a code fence; None for anything else."""
    import json
    import re

    text = answer.strip()
    if fenced := re.fullmatch(r"```(?:json)?\s*(\{.*\})\s*```", text, re.DOTALL):
        text = fenced[1]
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
