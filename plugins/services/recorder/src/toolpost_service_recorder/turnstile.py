"""Lets what waits go on in the order of a recording: one at a time, whatever ran side by side when it was made."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Final

from .reading import SHOWN, Entry, Key, key_of, named

SETTLED: Final = 30
"""Rounds of the event loop in which whatever follows from an entry without waiting for another one has happened."""


class Turnstile:
    """The entries that have an order. `show` does those that happen of themselves, `miss` is told what will not come.

    Nothing that is played takes time. So where something waits and for `stall` seconds nothing new comes to wait, what
    the recording has next will not come. That does not hold while a real tool is `busy`.
    """

    def __init__(
        self, entries: Sequence[Entry], show: Callable[[Entry], None], miss: Callable[[str], None], stall: float
    ) -> None:
        self._entries = list(entries)
        self._show, self._miss, self._stall = show, miss, stall
        self._left = Counter(key_of(entry) for entry in entries)
        self._place = 0
        self._waiting: dict[Key, deque[asyncio.Future[Entry | None]]] = defaultdict(deque)
        self._ended = False
        self._arrived = asyncio.Event()
        self._turning: asyncio.Task[None] | None = None
        self.busy = 0

    @property
    def next(self) -> Entry | None:
        """The entry whose turn it is."""
        return self._entries[self._place] if self._place < len(self._entries) else None

    async def turn(self, key: Key) -> Entry | None:
        """Wait until the next entry is one of that key; None where none is left, and once nothing goes through.

        An answer of which nothing is left was called off: whoever reads it waits for that.
        """
        if self._ended or self.next is None or (not self._left[key] and key[0] != "answer"):
            return None
        future: asyncio.Future[Entry | None] = asyncio.get_running_loop().create_future()
        self._waiting[key].append(future)
        self._arrived.set()
        if self._turning is None:
            self._turning = asyncio.create_task(self._turn())
        try:
            return await future
        except asyncio.CancelledError:
            if future in self._waiting[key]:
                self._waiting[key].remove(future)
            raise

    def hurry(self, kind: str) -> None:
        """Do the next entry of a kind that happens of itself now, and what happens of itself before it."""
        while (entry := self.next) is not None and entry["e"] in SHOWN:
            self._advance(entry)
            self._show(entry)
            if entry["e"] == kind:
                return
        ahead = (place for place in range(self._place, len(self._entries)) if self._entries[place]["e"] == kind)
        if (place := next(ahead, None)) is not None:
            self._show(self._entries.pop(place))

    def end(self) -> None:
        """Let nothing through any more, whatever waits."""
        self._ended = True
        for futures in self._waiting.values():
            for future in futures:
                if not future.done():
                    future.set_result(None)
        self._waiting.clear()
        if self._turning is not None and self._turning is not asyncio.current_task():
            self._turning.cancel()

    async def _turn(self) -> None:
        while not self._ended and (entry := self.next) is not None:
            if entry["e"] in SHOWN:
                self._advance(entry)
                self._show(entry)
            elif (future := self._first(key_of(entry))) is not None:
                self._advance(entry)
                future.set_result(entry)
            elif not await self._something_came(entry):
                return
            for _ in range(SETTLED):
                await asyncio.sleep(0)
        self.end()

    async def _something_came(self, entry: Entry) -> bool:
        self._arrived.clear()
        while True:
            try:
                async with asyncio.timeout(self._stall):
                    await self._arrived.wait()
                return True
            except TimeoutError:
                waiting = [key for key, futures in self._waiting.items() if futures]
                if waiting and not self.busy:
                    asked = ", ".join(sorted(map(named, waiting)))
                    self._miss(f"The recording has {named(key_of(entry))} next. The session waits for {asked}.")
                    return False

    def _first(self, key: Key) -> asyncio.Future[Entry | None] | None:
        waiting = self._waiting[key]
        while waiting:
            future = waiting.popleft()
            if not future.done():
                return future
        return None

    def _advance(self, entry: Entry) -> None:
        self._left[key_of(entry)] -= 1
        self._place += 1
