"""Calls sync listeners beside the event loop, so that one that hangs can be left behind."""

from __future__ import annotations

import asyncio
import threading
import time
import weakref
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from toolpost_core.events.calls import late

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolpost_core.events.calls import Came
    from toolpost_core.events.terms import Terms

WAIT: Final = 0.0005
"""Seconds that the event loop stands still for a run: most end sooner, and to be told by the loop costs more."""


class Threads:
    """Lends a daemon thread to each run of listeners and takes it back when the run ends in time.

    An executor's threads would be waited for at exit. A thread that is left behind ends with the call that it is in.
    """

    def __init__(self, call: Callable[[Terms, Any], Came]) -> None:
        self._call = call
        self._idle: list[Runs] = []
        weakref.finalize(self, _dismiss, self._idle)

    async def run(self, listeners: Sequence[Terms], value: Any) -> list[Came]:
        """Call listeners one after another in one thread, each with what the one before made of the event.

        Returns what the first of them came to, one at least. The last of these left something to await, or used up its
        time and may still be running, or was the last of all.
        """
        thread = self._idle.pop() if self._idle else _start()
        run = _Run(self._call, listeners, value)
        thread.put(run)
        try:
            in_time = run.ended.acquire(timeout=WAIT) or await run.watch()
        except asyncio.CancelledError:
            run.leave()
            thread.put(None)
            raise
        if in_time:
            self._idle.append(thread)
        else:
            thread.put(None)
        return run.came


class _Run:
    """Some calls in one thread; `ended` is released after the last one. What it came to changes under a lock only."""

    def __init__(self, call: Callable[[Terms, Any], Came], listeners: Sequence[Terms], value: Any) -> None:
        self._call = call
        self._listeners = listeners
        self._value = value
        self._since = time.perf_counter()
        self._left = False
        self._guard = threading.Lock()
        self._waiting: tuple[asyncio.AbstractEventLoop, asyncio.Future[None]] | None = None
        self.came: list[Came] = []
        self.ended = threading.Lock()
        self.ended.acquire()

    def work(self) -> None:
        """Call the listeners; in the thread."""
        self._since = time.perf_counter()
        for listener in self._listeners:
            if not self._goes_on(self._call(listener, self._value)):
                return

    async def watch(self) -> bool:
        """Wait for the end; False where a listener used up its time, which then is what it came to."""
        told = self._told()
        while not told.done():
            await asyncio.wait({told}, timeout=self._remaining())
            if not told.done() and self._is_late():
                return False
        return True

    def leave(self) -> None:
        """Have the thread call none of the listeners that are left; what it finds out counts for nothing any more."""
        with self._guard:
            self._left = True

    def _goes_on(self, came: Came) -> bool:
        """Keep what a listener came to, and say whether it is the next one's turn."""
        with self._guard:
            if self._left:
                return False
            self.came.append(came)
            self._value, self._since = came.value, time.perf_counter()
            if came.pending is None and len(self.came) < len(self._listeners):
                return True
            self.ended.release()
            if self._waiting is not None:
                loop, told = self._waiting
                with suppress(RuntimeError):  # the loop may be closed by now
                    loop.call_soon_threadsafe(_settle, told)
            return False

    def _told(self) -> asyncio.Future[None]:
        """Return a future that is done once the run ended; in the loop."""
        loop = asyncio.get_running_loop()
        told: asyncio.Future[None] = loop.create_future()
        with self._guard:
            if self.ended.locked():
                self._waiting = (loop, told)
            else:
                told.set_result(None)
        return told

    def _remaining(self) -> float:
        """Return the seconds that the listener has that runs now."""
        with self._guard:
            if not self.ended.locked():
                return 0.0
            return self._listeners[len(self.came)].limit - (time.perf_counter() - self._since)

    def _is_late(self) -> bool:
        """Leave the run if the listener that runs now used up its time."""
        with self._guard:
            if not self.ended.locked():
                return False
            listener, spent = self._listeners[len(self.came)], time.perf_counter() - self._since
            if spent < listener.limit:
                return False
            self._left = True
            self.came.append(late(listener, self._value, spent))
            return True


Runs: TypeAlias = "SimpleQueue[_Run | None]"


def _start() -> Runs:
    runs: Runs = SimpleQueue()
    threading.Thread(target=_serve, args=(runs,), name="toolpost-listener", daemon=True).start()
    return runs


def _serve(runs: Runs) -> None:
    while (run := runs.get()) is not None:
        run.work()
        del run  # or it would live on, with what it was given, until the next one


def _settle(told: asyncio.Future[None]) -> None:
    if not told.done():
        told.set_result(None)


def _dismiss(idle: list[Runs]) -> None:
    for runs in idle:
        runs.put(None)
