"""What is told where a request would not fit: how much it has, what fills it, and what makes room."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from toolpost_core.loop.state import Full

if TYPE_CHECKING:
    from toolpost import ModelRequest


def does_not_fit(request: ModelRequest, used: int, room: int) -> Full:
    """Say that a request of so many tokens is more than there is room for, and what to do.

    A text of the program with half of the room is what is in the way: no compaction makes instructions shorter.
    """
    from toolpost import tokens_in_text

    said = f"The conversation has {used:,} tokens, and the model takes {room:,} beside its answer."
    largest = tokens_in_text(max(_texts(request), key=len, default=""))
    if largest < room // 2:
        return Full(
            f"{said} Shorten it, go back to an earlier prompt, or begin a new one.", ("compact", "rewind", "clear")
        )
    return Full(
        f"{said} About {largest:,} are one text of your instructions (AGENTS.md and the like) or of another source of the "
        "prompt, which no compaction makes shorter. `toolpost context show` names it: shorten it, or start with --bare."
    )


def _texts(request: ModelRequest) -> Iterator[str]:
    """Yield the system prompt, and what the program says in the conversation."""
    from toolpost import Digest

    yield from (block.text for block in request.system)
    for message in request.messages:
        content = message["content"]
        blocks: Any = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if message["role"] == "user":
            yield from (block["text"] for block in blocks if block["type"] == "text" and Digest.is_aside(block["text"]))
