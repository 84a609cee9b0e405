"""One call of a listener. Nobody is told of it here: it may be made in any thread, and telling is the loop's."""

from __future__ import annotations

import asyncio
import inspect
import time
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from toolpost_core.events.answers import Answers
from toolpost_core.events.bounds import bounded
from toolpost_core.events.isolation import is_own
from toolpost_core.plugins.capabilities import ROLES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine, Generator, Mapping, Sequence

    from toolpost_core.events.terms import Terms

NOTHING: Final[Mapping[str, Sequence[str]]] = MappingProxyType({})


class Came(NamedTuple):
    """What a call came to.

    `value` is the event as the next listener gets it. `pending` is set while there is something to await. `error` says
    what went wrong. `missing` are the fields that were taken out of the answer, by the role that was not declared.
    `duration` is in seconds.
    """

    value: Any
    duration: float
    outcome: Any = None
    pending: Awaitable[Any] | None = None
    error: str | None = None
    timed_out: bool = False
    missing: Mapping[str, Sequence[str]] = NOTHING


class Calls:
    """Calls listeners; whatever one raises, or answers amiss, is its `Came.error`."""

    def __init__(self) -> None:
        self._answers = Answers()

    def begin(self, listener: Terms, value: Any) -> Came:
        """Call a sync listener, in any thread; what it returns may be to be awaited."""
        started = time.perf_counter()
        try:
            outcome = listener.function(value)
            if outcome is not None and inspect.isawaitable(outcome):
                return Came(value, time.perf_counter() - started, pending=outcome)
            return self._taken(listener, value, outcome, started)
        except BaseException as error:
            return _failed(value, error, started)

    def step(self, listener: Terms, value: Any) -> Came:
        """Call an async listener up to where it waits for the first time: most wait for nothing, and need no clock."""
        started = time.perf_counter()
        try:
            steps = listener.function(value)
            try:
                first = steps.send(None)
            except StopIteration as ended:
                if ended.value is None:
                    return Came(value, time.perf_counter() - started)
                return self._taken(listener, value, ended.value, started)
            return Came(value, time.perf_counter() - started, pending=_GoesOn(steps, first))
        except BaseException as error:
            if not is_own(error):
                raise
            return _failed(value, error, started)

    async def finish(self, listener: Terms, value: Any, pending: Awaitable[Any], spent: float = 0.0) -> Came:
        """Await what a listener returned, for what is left of its time."""
        started, clock = time.perf_counter() - spent, asyncio.timeout(listener.limit - spent)
        try:
            async with clock:
                outcome = await pending
            return self._taken(listener, value, outcome, started)
        except BaseException as error:
            if not is_own(error):
                raise
            if clock.expired() and isinstance(error, TimeoutError):
                return late(listener, value, time.perf_counter() - started)
            return _failed(value, error, started)

    def _taken(self, listener: Terms, value: Any, outcome: Any, started: float) -> Came:
        """Check an answer, leave of it what the plugin declared, and do to the event what it asks for."""
        if outcome is None:
            return Came(value, time.perf_counter() - started)
        event, missing = listener.event, NOTHING
        self._answers.check(event, outcome)
        outcome = bounded(outcome)
        if len(listener.roles) < len(ROLES):
            from toolpost_core.events.rights import within

            outcome, missing = within(outcome, listener.roles)
        if event.rewrites is not None:
            value = event.rewrites(value, outcome)
        return Came(value, time.perf_counter() - started, outcome, missing=missing)


class _GoesOn:
    """An awaitable that has come to where it waits for the first time, for `first`."""

    def __init__(self, steps: Coroutine[Any, Any, Any], first: Any) -> None:
        self._steps, self._first = steps, first

    def __await__(self) -> Generator[Any, Any, Any]:
        steps, waits_for = self._steps, self._first
        while True:
            try:
                try:
                    sent = yield waits_for
                except BaseException as error:
                    waits_for = steps.throw(error)
                else:
                    waits_for = steps.send(sent)
            except StopIteration as ended:
                return ended.value


def late(listener: Terms, value: Any, spent: float) -> Came:
    """Return what a listener comes to that used up its time."""
    return Came(value, spent, error=f"timed out after {listener.limit:g} s", timed_out=True)


def _failed(value: Any, error: BaseException, started: float) -> Came:
    return Came(value, time.perf_counter() - started, error=f"failed: {type(error).__name__}: {error}")
