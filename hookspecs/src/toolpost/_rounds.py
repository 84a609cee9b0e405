"""Where a conversation can be cut: no call is parted from its result, and no thought from its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from toolpost.messages import ContentBlock, Message
from toolpost.tokens import tokens_of

DIGEST: Final = "<earlier-conversation>"
ASIDES: Final = ("<system-reminder>", DIGEST)
"""How texts begin that the program put among the user's."""


def blocks_of(message: Message) -> list[ContentBlock]:
    """Return the content of a message as blocks."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def has_results(message: Message) -> bool:
    """Whether a message answers calls."""
    content = message["content"]
    return not isinstance(content, str) and any(block["type"] == "tool_result" for block in content)


def is_prompt(message: Message) -> bool:
    """Whether a person, or who stands in for one, wrote a message: it is the user's, and answers no call."""
    return message["role"] == "user" and not has_results(message)


def prompts_of(messages: Sequence[Message]) -> list[int]:
    """Return the indexes of prompts."""
    return [index for index, message in enumerate(messages) if is_prompt(message)]


def cuts(messages: Sequence[Message]) -> list[int]:
    """Return each index before which the conversation can be cut: that of an answer or of a prompt, not of results."""
    return [index for index, message in enumerate(messages) if not has_results(message)]


def cut_before(messages: Sequence[Message], index: int) -> int:
    """Return the nearest index at or before one where the conversation can be cut."""
    while 0 < index < len(messages) and has_results(messages[index]):
        index -= 1
    return index


def tail_within(messages: Sequence[Message], tokens: int, *, scale: float = 1.0) -> int:
    """Return from where the newest messages have at most so many tokens and can be cut off; the length if none do.

    Digests and reminders do not count: with them a conversation that was just shortened would be too long again.
    """
    start, total = len(messages), 0.0
    for index in range(len(messages) - 1, -1, -1):
        total += tokens_of((without_asides(messages[index]),)) * scale
        if total > tokens:
            break
        if not has_results(messages[index]):
            start = index
    return start


def begun_with(text: str, tail: Sequence[Message]) -> list[Message]:
    """Return a conversation that begins with a text, as the user's word; a prompt that follows is joined with it."""
    opening: ContentBlock = {"type": "text", "text": text}
    if not tail or tail[0]["role"] == "assistant":
        return [{"role": "user", "content": [opening]}, *tail]
    return [{"role": "user", "content": [opening, *blocks_of(tail[0])]}, *tail[1:]]


def ended_with(head: Sequence[Message], text: str) -> list[Message]:
    """Return a conversation that ends with a text, as the user's word."""
    closing: ContentBlock = {"type": "text", "text": text}
    if not head or head[-1]["role"] == "assistant":
        return [*head, {"role": "user", "content": [closing]}]
    return [*head[:-1], {"role": "user", "content": [*blocks_of(head[-1]), closing]}]


def without_asides(message: Message) -> Message:
    """Return a message without what the program put among the user's texts; the same object where it has none."""
    blocks = blocks_of(message)
    own = [block for block in blocks if not str(block.get("text", "")).startswith(ASIDES)]
    return message if len(own) == len(blocks) else {"role": message["role"], "content": own}


def without_media(messages: Sequence[Message]) -> list[Message]:
    """Return the conversation with `[image]` and `[document]` in the place of pictures and documents.

    A message without any stays the same object.
    """
    return [_without_media(message) for message in messages]


def _without_media(message: Message) -> Message:
    content = message["content"]
    if isinstance(content, str):
        return message
    plain = _plain(content)
    return message if plain is content else {"role": message["role"], "content": cast("list[ContentBlock]", plain)}


def _plain(blocks: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    made: list[Mapping[str, Any]] = []
    for block in blocks:
        inner = block.get("content")
        if block["type"] in ("image", "document"):
            made.append({"type": "text", "text": f"[{block['type']}]"})
        elif block["type"] == "tool_result" and isinstance(inner, list):
            plain = _plain(inner)
            made.append(block if plain is inner else {**block, "content": plain})
        else:
            made.append(block)
    return blocks if all(new is old for new, old in zip(made, blocks, strict=True)) else made
