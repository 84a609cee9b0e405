"""Messages without the middles of their long texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolpost import Message, tokens_in_text, without_middle


def cut(message: Message, longest: int) -> Message:
    """Return a message whose results and inputs have no text of more than `longest` tokens; the same where it has none."""
    content = message["content"]
    if isinstance(content, str) or any(block["type"] in ("thinking", "redacted_thinking") for block in content):
        return message
    made = [_block(block, longest) for block in content]
    same = all(new is old for new, old in zip(made, content, strict=True))
    return message if same else {"role": message["role"], "content": made}


def _block(block: Mapping[str, Any], longest: int) -> Mapping[str, Any]:
    part = {"tool_use": "input", "tool_result": "content"}.get(block["type"], "")
    value = block.get(part)
    made = _value(value, longest)
    return block if made is value else {**block, part: made}


def _value(value: Any, longest: int) -> Any:
    """Return a value with its long texts cut, the very same where there are none."""
    match value:
        case str():
            return _text(value, longest)
        case {"type": "image" | "document"}:
            return value
        case Mapping():
            cut_values: Any = {key: _value(item, longest) for key, item in value.items()}
            return value if all(cut_values[key] is item for key, item in value.items()) else cut_values
        case list():
            items = [_value(item, longest) for item in value]
            return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value


def _text(text: str, longest: int) -> str:
    return text if tokens_in_text(text) <= longest else without_middle(text, longest)
