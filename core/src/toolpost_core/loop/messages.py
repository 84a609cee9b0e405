"""Messages as the service takes them: roles alternate, and the results of one answer stand in one message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost import ContentBlock, Message, ToolResultBlock


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
