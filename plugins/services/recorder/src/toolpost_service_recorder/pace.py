"""How far a session is: what it has read of clocks and ids, which is the finest measure that there is of it."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from .reading import Entry

TICK: Final = 0.025
"""Seconds between two looks. They are counted, and no time is taken: on a busy machine it passes without anything done."""
PATIENCE: Final = 80
"""Looks without any reading between them after which a session that waits is taken to read less than was recorded."""
LONG_PATIENCE: Final = 800
"""The same of a session that does not wait for anything that is played: it may have work of its own."""


class Pace:
    """Says whether the session is where the recorded one was when an entry came.

    Another version may read more or less. Rows of which that shows say nothing any more.
    """

    def __init__(self) -> None:
        self._read: Counter[str] = Counter()
        self._silent: set[str] = set()
        self._stirred = asyncio.Event()
        self._seen = 0

    def reads(self, row: str) -> None:
        """Take note that the session has read a value."""
        self._read[row] += 1
        self._stirred.set()

    def stirs(self) -> bool:
        """Whether the session has read anything since this was asked last."""
        seen, self._seen = self._seen, self._read.total()
        return seen != self._seen

    def reached(self, entry: Entry) -> bool:
        """Whether the session has read all that was read before the entry."""
        return not self._missing(entry)

    def is_past(self, entry: Entry, row: str) -> bool:
        """Whether the entry came before the value of a row that the session is about to read."""
        before: int = entry.get("after", {}).get(row, 0)
        return row not in self._silent and before <= self._read[row]

    async def arrive(self, entry: Entry, patience: Callable[[], float]) -> None:
        """Wait until the session has read as much, or has read nothing for as many looks as there is patience."""
        looks = 0
        while missing := self._missing(entry):
            if looks >= patience():
                self._silent |= missing
                return
            looks = 0 if await within_a_tick(self._stirred) else looks + 1

    def _missing(self, entry: Entry) -> set[str]:
        due = entry.get("after", {})
        return {row for row, count in due.items() if self._read[row] < count and row not in self._silent}


async def within_a_tick(happened: asyncio.Event) -> bool:
    """Wait until something happens, for a tick at most; returns whether it did."""
    happened.clear()
    try:
        async with asyncio.timeout(TICK):
            return await happened.wait()
    except TimeoutError:
        return happened.is_set()
