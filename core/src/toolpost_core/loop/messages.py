"""Messages as the service takes them: roles alternate, and the results of one answer stand in one message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost import ContentBlock, Message, ToolResultBlock

THOUGHTS: Final = ("thinking", "redacted_thinking")


def call_ids(messages: Sequence[Message]) -> set[str]:
    """Return the ids of all calls."""
    blocks = (cast("Any", block) for message in messages for block in blocks_of(message))
    return {str(block["id"]) for block in blocks if block["type"] == "tool_use"}


def results_message(blocks: Sequence[ToolResultBlock]) -> Message:
    """Return the message that answers all calls of one answer."""
    return {"role": "user", "content": list(blocks)}


def text_message(text: str) -> Message:
    """Return a text for the model as a message."""
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def joined(messages: tuple[Message, ...], message: Message) -> tuple[Message, ...]:
    """Append a message; one of the same role as the last is joined with it in a new message, as roles alternate."""
    if not messages or messages[-1]["role"] != message["role"]:
        return (*messages, message)
    content = [*blocks_of(messages[-1]), *blocks_of(message)]
    return (*messages[:-1], {"role": message["role"], "content": content})


def blocks_of(message: Message) -> list[ContentBlock]:
    """Return the content as blocks."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def without_thoughts(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages without what the model thought: no other model takes its signatures.

    A message that holds none stays the same object. One of the model's that held nothing else says so.
    """
    return tuple(map(_without_thoughts, messages))


def _without_thoughts(message: Message) -> Message:
    content = message["content"]
    if isinstance(content, str) or not any(block["type"] in THOUGHTS for block in content):
        return message
    rest = [block for block in content if block["type"] not in THOUGHTS]
    return {"role": message["role"], "content": rest or [{"type": "text", "text": "(thoughts only)"}]}
