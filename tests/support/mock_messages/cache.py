"""The prompt cache: what a request reads and writes, by the longest prefix that was written before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

CHARS_PER_TOKEN = 4
LOOK_BACK = 20


class CacheUse(NamedTuple):
    """Tokens (a quarter of the characters) read from the cache, written to it, and neither."""

    read: int
    created: int
    uncached: int


class PromptCache:
    """Remembers marked prefixes. A mark finds what was written there or at one of the 20 blocks before it."""

    def __init__(self) -> None:
        self._written: set[bytes] = set()

    def use(self, body: Mapping[str, Any]) -> CacheUse:
        """Account for one request."""
        digest, prefixes, marks = hashlib.blake2b(), [_Prefix(b"", 0)], []
        for piece, mark in _pieces(body):
            digest.update(piece.encode())
            prefixes.append(_Prefix(digest.digest(), prefixes[-1].chars + len(piece)))
            if mark:
                marks.append(len(prefixes) - 1)
        near = [prefix for mark in marks for prefix in prefixes[max(1, mark - LOOK_BACK) : mark + 1]]
        read = max((prefix.chars for prefix in near if prefix.name in self._written), default=0)
        written = prefixes[marks[-1]].chars if marks else 0
        self._written.update(prefixes[mark].name for mark in marks)
        tokens = [n // CHARS_PER_TOKEN for n in (read, written - read, prefixes[-1].chars - written)]
        return CacheUse(*tokens)


class _Prefix(NamedTuple):
    """The beginning of a request, by a digest of it: a long one would be too much to keep for each of its blocks."""

    name: bytes
    chars: int


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
