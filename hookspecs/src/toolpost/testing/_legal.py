"""What the Messages API asks of a list of messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolpost.messages import Message


def broken_rules(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """Yield what the service would refuse, each with its subject: begin, role, call, thought, empty."""
    if not messages or messages[0]["role"] != "user":
        yield "begin", "the first message must be the user's"
    calls: list[str] = []
    role = ""
    for number, message in enumerate(messages):
        if message["role"] == role:
            yield "role", f"message {number} has the same role as the one before"
        role = message["role"]
        blocks: Sequence[Any] = (
            [{"type": "text", "text": message["content"]}]
            if isinstance(message["content"], str)
            else message["content"]
        )
        yield from _of_content(number, message, blocks)
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(results) != sorted(calls):
            yield "call", f"message {number} must answer {calls} and answers {results}"
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
    if calls:
        yield "call", f"nothing answers {calls}"


def _of_content(number: int, message: Message, blocks: Sequence[Any]) -> Iterator[tuple[str, str]]:
    if not blocks or any(block["type"] == "text" and not block["text"].strip() for block in blocks):
        yield "empty", f"message {number} has no content, or an empty text"
    kinds = [block["type"] for block in blocks]
    if "tool_result" in kinds and kinds != sorted(kinds, key=lambda kind: kind != "tool_result"):
        yield "call", f"in message {number} something stands before a result"
    if message["role"] == "assistant" and kinds and kinds[-1] in ("thinking", "redacted_thinking"):
        yield "thought", f"message {number} ends in a thought"
