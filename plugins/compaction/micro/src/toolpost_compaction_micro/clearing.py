"""Which results are old, how much they hold, and the conversation without them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from toolpost import ContentBlock, Message, ToolResultBlock

TEXT = "[Old tool result content cleared]"
_CHARS_PER_TOKEN = 4
_MEDIA_TOKENS = 2_000
"""A picture costs about (width × height) / 750 tokens; this is one of 1,500 by 1,000 pixels."""


def old_results(messages: Sequence[Message], tools: Collection[str], keep: int) -> list[ToolResultBlock]:
    """Return the results of calls of `tools`, oldest first, without the newest `keep`."""
    blocks = [block for message in messages for block in _blocks(message)]
    calls = {block["id"] for block in blocks if block["type"] == "tool_use" and block["name"] in tools}
    results = [block for block in blocks if block["type"] == "tool_result" and block["tool_use_id"] in calls]
    return cast("list[ToolResultBlock]", results[: max(len(results) - keep, 0)])


def gain(result: ToolResultBlock) -> int:
    """Return the tokens that clearing the result would free, estimated; never below 0."""
    return max(_tokens(result.get("content", "")) - _tokens(TEXT), 0)


def clear(messages: Sequence[Message], ids: Collection[str]) -> list[Message] | None:
    """Return the conversation with the results of the calls `ids` cleared; None where that changes nothing."""
    kept = [_without(message, ids) for message in messages]
    same = all(new is old for new, old in zip(kept, messages, strict=True))
    return None if same else kept


def _without(message: Message, ids: Collection[str]) -> Message:
    blocks = _blocks(message)
    if not any(_is_due(block, ids) for block in blocks):
        return message
    content = [cast("ContentBlock", {**block, "content": TEXT}) if _is_due(block, ids) else block for block in blocks]
    return {**message, "content": content}


def _is_due(block: Mapping[str, Any], ids: Collection[str]) -> bool:
    return block["type"] == "tool_result" and block["tool_use_id"] in ids and block.get("content") != TEXT


def _blocks(message: Message) -> list[Any]:
    return [] if isinstance(message["content"], str) else message["content"]


def _tokens(content: str | Sequence[Mapping[str, Any]]) -> int:
    if isinstance(content, str):
        return len(content) // _CHARS_PER_TOKEN
    return sum(_block_tokens(block) for block in content)


def _block_tokens(block: Mapping[str, Any]) -> int:
    if block["type"] in ("image", "document"):
        return _MEDIA_TOKENS
    text = block["text"] if block["type"] == "text" else json.dumps(block)
    return len(text) // _CHARS_PER_TOKEN
