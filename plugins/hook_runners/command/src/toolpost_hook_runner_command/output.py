"""A hook's standard output as it comes: kept up to a limit, and looked at for a first line that says "go on without me"."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

_LONGEST = 4_096
"""Bytes of a first line that is looked at."""


class Output:
    """Takes the output in pieces. `gone` is set once its first line is `{"async": true}`, whose object is `asked` then."""

    def __init__(self, limit: int) -> None:
        self.data = bytearray()
        self.dropped = 0
        self.asked: Mapping[str, Any] = {}
        self.gone = asyncio.Event()
        self._limit = limit
        self._decided = False

    def take(self, piece: bytes) -> bool:
        """Keep what fits; more is always wanted, since a program that nobody reads from would stand still."""
        room = max(self._limit - len(self.data), 0)
        self.data += piece[:room]
        self.dropped += max(len(piece) - room, 0)
        if not self._decided:
            self._look()
        return True

    def _look(self) -> None:
        line, newline, _ = bytes(self.data[: _LONGEST + 1]).lstrip().partition(b"\n")
        self._decided = bool(newline) or len(line) > _LONGEST or not b"{".startswith(line[:1])
        try:
            said = json.loads(line)
        except ValueError:
            return
        if isinstance(said, dict) and said.get("async") is True:
            self._decided, self.asked = True, said
            self.gone.set()
