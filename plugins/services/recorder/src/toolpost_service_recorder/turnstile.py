"""Lets what waits go on in the order of a recording: one at a time, whatever ran side by side when it was made."""

from __future__ import annotations

import asyncio
import math
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Final

from .pace import LONG_PATIENCE, PATIENCE, TICK, Pace, within_a_tick
from .reading import SHOWN, Entry, Key, ends_a_turn, key_of, named

SETTLED: Final = 30
"""Rounds of the event loop in which whatever follows from an entry without waiting for another one has happened."""


class Turnstile:
    """The entries that have an order. `show` does those that happen of themselves, `miss` is told what will not come.

    An entry's turn comes when the session has got as far as it had when the entry came (`pace`). Nothing that is played
    takes time: where something waits and for `stall` seconds nothing new comes to wait, what the recording has next will
    not come. Where nothing waits and the session reads nothing for LONG_PATIENCE looks, it will not come either. Neither
    holds while a real tool is `busy`.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        show: Callable[[Entry], None],
        miss: Callable[[str], None],
        stall: float,
        pace: Pace | None = None,
    ) -> None:
        self._entries = list(entries)
        self._show, self._miss, self._stall = show, miss, stall
        self._pace = pace or Pace()
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

    @property
    def undone(self) -> Entry | None:
        """The first entry that is left and that the session would have asked for, or that was done with it."""
        left = self._entries[self._place :]
        return next((entry for entry in left if entry["e"] not in SHOWN or entry["e"] == "did"), None)

    def begin(self) -> None:
        """Begin with what happens of itself."""
        if self._turning is None and not self._ended:
            self._turning = asyncio.create_task(self._turn())

    async def turn(self, key: Key) -> Entry | None:
        """Wait until the next entry is one of that key; None where none is left, and once nothing goes through.

        An answer of which nothing is left was called off: whoever reads it waits for that.
        """
        if self._ended or self.next is None or (not self._left[key] and key[0] != "answer"):
            return None
        future: asyncio.Future[Entry | None] = asyncio.get_running_loop().create_future()
        self._waiting[key].append(future)
        self._arrived.set()
        self.begin()
        try:
            return await future
        except asyncio.CancelledError:
            if future in self._waiting[key]:
                self._waiting[key].remove(future)
            raise

    def before_reading(self, row: str) -> None:
        """Do what happens of itself and came before the value that the session is about to read."""
        while (entry := self.next) is not None and entry["e"] in SHOWN and self._pace.is_past(entry, row):
            self._do(self._place)

    def behind_reading(self) -> None:
        """Let a turn end that was ended before anything else was read: what reads goes on until it waits for something."""
        entry = self.next
        if entry is not None and ends_a_turn(entry) and self._pace.reached(entry):
            asyncio.get_running_loop().call_soon(self._do_if_next, entry)

    def before_looking(self, row: str) -> None:
        """Do all that was put in before the session looked, also where something that has a turn is ahead of it."""
        self.before_reading(row)
        place = self._place
        while place < len(self._entries) and self._pace.is_past(entry := self._entries[place], row):
            if entry["e"] in ("inbox", "did"):
                self._do(place)
            else:
                place += 1

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
        try:
            await self._take_turns()
        except Exception as error:
            # Nobody awaits this task: what fails in it has to be told, or all that waits would wait for ever.
            self._miss(f"What the recording has next can't be done here: {type(error).__name__}: {error}.")
            self.end()

    async def _take_turns(self) -> None:
        while not self._ended and (entry := self.next) is not None:
            await self._pace.arrive(entry, self._patience)
            if entry is not self.next:
                continue
            if entry["e"] in SHOWN:
                self._do(self._place)
            elif (future := self._first(key_of(entry))) is not None:
                self._advance(entry)
                future.set_result(entry)
            elif not await self._something_came(entry):
                return
            for _ in range(SETTLED):
                await asyncio.sleep(0)
        self.end()

    async def _something_came(self, entry: Entry) -> bool:
        """Wait until something new waits; False where nothing will."""
        looks = still = 0
        while not await within_a_tick(self._arrived):
            waiting = self._awaited()
            still = 0 if self._pace.stirs() or waiting or self.busy > 0 else still + 1
            looks += 1
            if (looks * TICK > self._stall and waiting and self.busy <= 0) or still > LONG_PATIENCE:
                asked = ", ".join(sorted(map(named, waiting))) or "nothing of it"
                self._miss(f"The recording has {named(key_of(entry))} next. The session waits for {asked}.")
                return False
        return True

    def _patience(self) -> float:
        if self.busy > 0:
            return math.inf
        return PATIENCE if self._awaited() else LONG_PATIENCE

    def _awaited(self) -> list[Key]:
        return [key for key, futures in self._waiting.items() if futures]

    def _first(self, key: Key) -> asyncio.Future[Entry | None] | None:
        waiting = self._waiting[key]
        while waiting:
            future = waiting.popleft()
            if not future.done():
                return future
        return None

    def _do_if_next(self, entry: Entry) -> None:
        if entry is self.next and not self._ended:
            self._do(self._place)

    def _do(self, place: int) -> None:
        """Do an entry that happens of itself; what comes of it may ask for what is behind it already."""
        entry = self._entries[place]
        self._arrived.set()
        if place == self._place:
            self._advance(entry)
        else:
            del self._entries[place]
            self._left[key_of(entry)] -= 1
        self._show(entry)

    def _advance(self, entry: Entry) -> None:
        self._left[key_of(entry)] -= 1
        self._place += 1
