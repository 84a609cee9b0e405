"""What the model is told of a call: what the user asked for, the calls before it, and the call itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from toolpost import Message, PermissionRequest

PROMPTS: Final = 8
"""The newest prompts of the user that are told."""
CALLS: Final = 12
"""The newest calls that are told."""
PROMPT_CHARS: Final = 4_000
CALL_CHARS: Final = 300
_NOTE: Final = re.compile(r"<([a-z][a-z_-]*)\b[^>]*>.*</\1>", re.DOTALL)
"""A text that is wholly inside a tag: what the program told the model, not what the user wrote."""


def told(request: PermissionRequest) -> str:
    """Return the facts as JSON, so that no text in them can pass for another part of the question."""
    facts = {
        "project_folder": str(request.scope.project),
        "current_folder": str(request.scope.cwd),
        "user_asked": [_cut(text, PROMPT_CHARS) for text in list(_prompts(request.messages))[-PROMPTS:]],
        "calls_before": [_cut(text, CALL_CHARS) for text in list(_calls(request.messages))[-CALLS:]],
        "call_to_judge": {"tool": request.tool_name, "input": request.described},
    }
    return json.dumps(facts, ensure_ascii=False, indent=1)


def _prompts(messages: Sequence[Message]) -> Iterator[str]:
    """Yield what the user wrote: of a message without results the last text, as what goes with it stands before it."""
    for message in messages:
        blocks = _blocks(message)
        if message["role"] != "user" or any(block.get("type") == "tool_result" for block in blocks):
            continue
        texts = [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
        if texts and not _NOTE.fullmatch(texts[-1].strip()):
            yield texts[-1]


def _calls(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        for block in _blocks(message):
            if block.get("type") == "tool_use":
                yield f"{block.get('name')} {json.dumps(block.get('input'), ensure_ascii=False)}"


def _blocks(message: Message) -> Sequence[dict[str, Any]]:
    content: Any = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{text[:chars]} [cut]"
