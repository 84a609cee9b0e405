"""Runs sync listeners beside the event loop, so that one that hangs can be left behind."""

from __future__ import annotations

import asyncio
import inspect
import threading
import weakref
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

WAIT: Final = 0.0005
"""Seconds that the event loop stands still for a listener: most end sooner, and to be told by the loop costs more."""


class Threads:
    """Lends a daemon thread to each call and takes it back when the call ends in time.

    An executor's threads would be waited for at exit. A thread that is left behind ends with its call.
    """

    def __init__(self) -> None:
        self._idle: list[Calls] = []
        weakref.finalize(self, _dismiss, self._idle)

    def call(self, function: Callable[[Any], Any], value: object) -> Any:
        """Call a function in a thread; return what it returned, or an awaitable of it where that takes longer."""
        calls = self._idle.pop() if self._idle else _start()
        call = _Call(function, value)
        calls.put(call)
        if not call.ended.acquire(timeout=WAIT):
            return self._rest(calls, call)
        self._idle.append(calls)
        return call.outcome()

    async def _rest(self, calls: Calls, call: _Call) -> Any:
        try:
            await call.told()
        except asyncio.CancelledError:
            calls.put(None)
            raise
        self._idle.append(calls)
        outcome = call.outcome()
        return await outcome if inspect.isawaitable(outcome) else outcome


class _Call:
    """One call; `ended` is released when it has."""

    def __init__(self, function: Callable[[Any], Any], value: object) -> None:
        self._function = function
        self._value = value
        self._guard = threading.Lock()
        self._waiting: tuple[asyncio.AbstractEventLoop, asyncio.Future[None]] | None = None
        self.ended = threading.Lock()
        self.ended.acquire()
        self._result: Any = None
        self._failure: BaseException | None = None

    def work(self) -> None:
        """Call the function; in its thread."""
        try:
            self._result = self._function(self._value)
        except BaseException as error:
            # Neither passes through a coroutine as what it is; Ctrl-C comes from a person only.
            is_odd = isinstance(error, StopIteration | KeyboardInterrupt)
            self._failure = RuntimeError(f"{type(error).__name__}: {error}") if is_odd else error
        with self._guard:
            self.ended.release()
            if self._waiting is not None:
                loop, done = self._waiting
                with suppress(RuntimeError):  # the loop may be closed by now
                    loop.call_soon_threadsafe(_settle, done)

    def outcome(self) -> Any:
        """Return what the function returned, or raise what it raised."""
        if self._failure is not None:
            raise self._failure
        return self._result

    def told(self) -> asyncio.Future[None]:
        """Return a future that is done once the call ended; in the loop."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        with self._guard:
            if self.ended.locked():
                self._waiting = (loop, done)
            else:
                done.set_result(None)
        return done


Calls: TypeAlias = "SimpleQueue[_Call | None]"


def _start() -> Calls:
    calls: Calls = SimpleQueue()
    threading.Thread(target=_serve, args=(calls,), name="toolpost-listener", daemon=True).start()
    return calls


def _serve(calls: Calls) -> None:
    while (call := calls.get()) is not None:
        call.work()
        del call  # or it would live on, with what it was given, until the next one


def _settle(done: asyncio.Future[None]) -> None:
    if not done.done():
        done.set_result(None)


def _dismiss(idle: list[Calls]) -> None:
    for calls in idle:
        calls.put(None)
