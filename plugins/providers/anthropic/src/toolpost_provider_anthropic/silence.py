"""The watch over an answer that comes: it ends a wait in which nothing is heard for too long."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, Self, TypeVar

from toolpost import ProviderError

if TYPE_CHECKING:
    from .patience import Patience

SLICE: Final = 1.0
"""Seconds between two looks."""
STALL: Final = 30.0
"""Seconds of silence after which the log says so."""

T = TypeVar("T")
_log = logging.getLogger("toolpost.provider.anthropic")


class Watch:
    """Counts the silence of one answer while somebody waits for its next bytes.

    Time is counted in slices, at most two of them at a time. What is longer between two looks was no silence of the
    service: the machine slept, or the program was stopped. So a stream that is healthy when a laptop wakes up goes on,
    whether or not the clock went on meanwhile, and a dead one is given up after the rest of the limit.
    """

    def __init__(self, patience: Patience, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._patience = patience
        self._url = url
        self._clock = clock
        self._slice = min(SLICE, patience.idle / 4, patience.pings / 4)
        self._limit = patience.idle
        self._silent = 0.0
        self._eventless = 0.0
        self._looked = 0.0
        self._waiting: asyncio.Timeout | None = None
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        self._looked = self._clock()
        self._arm()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    async def hear(self, coming: Awaitable[T], limit: float | None = None) -> T:
        """Wait for what comes next. Raises ProviderError after the limit, which is the patience's unless given."""
        if self._eventless >= self._patience.pings:
            raise self._given_up()  # what came last was no more than another sign of life
        self._limit = self._patience.idle if limit is None else limit
        self._waiting = asyncio.timeout(None)
        try:
            async with self._waiting:
                return await coming
        except TimeoutError:
            if not self._waiting.expired():
                raise
            raise self._given_up() from None
        finally:
            self._waiting, self._silent = None, 0.0

    def event(self) -> None:
        """Take note that something other than a sign of life came."""
        self._eventless = 0.0

    def look(self) -> None:
        """Count the time since the last look, and end the wait where it is too long."""
        now = self._clock()
        step, self._looked = min(now - self._looked, 2 * self._slice), now
        if self._waiting is not None:
            if self._silent < STALL <= self._silent + step:
                _log.info("%s has sent nothing for %d s", self._url, STALL)
            self._silent += step
            self._eventless += step
            too_long = self._silent >= self._limit or self._eventless >= self._patience.pings
            # On a busy machine whoever waits may not have heard of the end yet.
            if too_long and not self._waiting.expired():
                self._waiting.reschedule(asyncio.get_running_loop().time())
        self._arm()

    def _arm(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._slice, self.look)

    def _given_up(self) -> ProviderError:
        if self._silent < self._limit:
            return ProviderError(
                f"{self._url} sent signs of life and nothing else for {self._patience.pings:g} s. "
                f"TOOLPOST_STREAM_PING_TIMEOUT_MS sets how long to wait.",
                kind="timeout",
                retriable=True,
            )
        return ProviderError(
            f"{self._url} sent nothing for {self._limit:.3g} s. TOOLPOST_STREAM_IDLE_TIMEOUT_MS sets how long to wait.",
            kind="timeout",
            retriable=True,
        )
