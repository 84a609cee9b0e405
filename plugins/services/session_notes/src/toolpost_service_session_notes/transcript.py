"""A conversation as the model that takes notes reads it: who said what, with long results cut."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from toolpost import Digest, without_middle

if TYPE_CHECKING:
    from toolpost import Message

MOST_TOKENS: Final = 20_000
"""Of more than that the middle is left out: notes are to be cheap."""
_RESULT: Final = 150
_ERROR: Final = 400
_INPUT: Final = 150
_SAID: Final = 2_000


def told(messages: Sequence[Message]) -> str:
    """Return messages as text; what the program put among the user's words is left out."""
    return without_middle("\n".join(line for message in messages for line in _lines(message)), MOST_TOKENS)


def _lines(message: Message) -> Iterator[str]:
    content: Any = message["content"]
    who = "User" if message["role"] == "user" else "Agent"
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        if block["type"] == "text" and not Digest.is_aside(block["text"]):
            yield f"{who}: {without_middle(block['text'], _SAID)}"
        elif block["type"] == "tool_use":
            yield f"Call {block['name']}: {without_middle(json.dumps(block['input'], ensure_ascii=False), _INPUT)}"
        elif block["type"] == "tool_result":
            failed = bool(block.get("is_error"))
            text = without_middle(_text(block.get("content", "")), _ERROR if failed else _RESULT)
            yield f"{'Error' if failed else 'Result'}: {text}"


def _text(content: str | Sequence[Mapping[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(cast("str", block.get("text", f"[{block['type']}]")) for block in content)
