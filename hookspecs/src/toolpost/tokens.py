"""A fast estimate of tokens, for where asking the service would be too slow. Core corrects it by what is reported."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from toolpost.messages import Message

BYTES_A_TOKEN: Final = 4
JSON_BYTES_A_TOKEN: Final = 2
"""JSON is dense: each quote, brace and comma is a token or half of one."""
MEDIA_TOKENS: Final = 2_000
"""A picture costs about (width × height) / 750 tokens; this is one of 1,500 by 1,000 pixels. Its bytes say nothing."""
_WHOLE_TEXT: Final = 256


def tokens_of(messages: Sequence[Message]) -> int:
    """Estimate the tokens of messages."""
    total = 0
    for message in messages:
        content = message["content"]
        total += tokens_in_text(content) if isinstance(content, str) else tokens_in(content)
    return total


def tokens_in(blocks: Sequence[Mapping[str, Any]]) -> int:
    """Estimate the tokens of content blocks."""
    return sum(_of_block(block) for block in blocks)


def tokens_in_text(text: str) -> int:
    """Estimate the tokens of a text; JSON is recognised by how it begins and ends."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size // (JSON_BYTES_A_TOKEN if _is_json(text) else BYTES_A_TOKEN))


def tokens_in_json(value: object) -> int:
    """Estimate the tokens of a value that is sent as JSON, long texts in it as texts."""
    match value:
        case str() if len(value) > _WHOLE_TEXT:
            return tokens_in_text(value)
        case Mapping():
            return sum(tokens_in_json(key) + tokens_in_json(item) for key, item in value.items()) + 1
        case list() | tuple():
            return sum(map(tokens_in_json, value)) + 1
    return -(-len(json.dumps(value, ensure_ascii=False, default=str)) // JSON_BYTES_A_TOKEN)


def _of_block(block: Mapping[str, Any]) -> int:
    match block.get("type"):
        case "text":
            return tokens_in_text(block["text"])
        case "thinking":
            return tokens_in_text(block["thinking"])
        case "redacted_thinking":
            return len(block["data"]) // BYTES_A_TOKEN
        case "image" | "document":
            return MEDIA_TOKENS
        case "tool_use":
            return tokens_in_text(block["name"]) + tokens_in_json(block["input"])
        case "tool_result":
            content = block.get("content", "")
            return tokens_in_text(content) if isinstance(content, str) else tokens_in(content)
    return tokens_in_json(block)


def _is_json(text: str) -> bool:
    return text[:1] in ("{", "[") and text.rstrip()[-1:] in ("}", "]")
