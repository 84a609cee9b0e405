"""Which files the calls of a conversation were about."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from toolpost import Message

_KEYS = ("file_path", "notebook_path")


def recent(messages: Sequence[Message], tools: Collection[str]) -> list[Path]:
    """Return the files that calls of `tools` named and that were there for them, the newest first."""
    failed = {
        block["tool_use_id"] for block in _blocks(messages) if block["type"] == "tool_result" and block.get("is_error")
    }
    paths = [
        Path(block["input"][key])
        for block in _blocks(messages)
        if block["type"] == "tool_use" and block["name"] in tools and block["id"] not in failed
        for key in _KEYS
        if isinstance(block["input"].get(key), str)
    ]
    return list(dict.fromkeys(reversed(paths)))


def _blocks(messages: Sequence[Message]) -> Iterator[Any]:
    for message in messages:
        if not isinstance(message["content"], str):
            yield from message["content"]
