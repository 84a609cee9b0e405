"""The prompt cache: what a request reads and writes, by the longest prefix up to a mark that was written before."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

CHARS_PER_TOKEN = 4


class CacheUse(NamedTuple):
    """Tokens (a quarter of the characters) read from the cache, written to it, and neither."""

    read: int
    created: int
    uncached: int


class PromptCache:
    """Remembers marked prefixes."""

    def __init__(self) -> None:
        self._written: set[str] = set()

    def use(self, body: Mapping[str, Any]) -> CacheUse:
        """Account for one request."""
        prefix, marked = "", []
        for piece, mark in _pieces(body):
            prefix += piece
            if mark:
                marked.append(prefix)
        read = max((len(p) for p in marked if p in self._written), default=0)
        # A mark also finds what an earlier request wrote at the end of a shorter prefix.
        read = max([read, *(len(p) for p in self._written if prefix.startswith(p) and marked)])
        written = max((len(p) for p in marked), default=0)
        self._written.update(marked)
        tokens = [n // CHARS_PER_TOKEN for n in (read, max(0, written - read), len(prefix) - max(read, written))]
        return CacheUse(*tokens)


def _pieces(body: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    for tool in body.get("tools") or []:
        yield _plain(tool)
    system = body.get("system") or []
    for block in [{"type": "text", "text": system}] if isinstance(system, str) else system:
        yield _plain(block)
    for message in body.get("messages") or []:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            piece, mark = _plain(block)
            yield message["role"] + piece, mark


def _plain(block: Mapping[str, Any]) -> tuple[str, bool]:
    plain = {key: value for key, value in block.items() if key != "cache_control"}
    return json.dumps(plain, sort_keys=True), "cache_control" in block
