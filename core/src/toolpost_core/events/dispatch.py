"""Calls the listeners of lifecycle events: isolated, ordered, timed, time-limited, attributed, merged."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from toolpost._hooks import options_of
from toolpost_core.events.answers import check_answer
from toolpost_core.events.isolation import is_own

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pluggy

    from toolpost import Event
    from toolpost.events._base import EventBase, Origin

E = TypeVar("E", bound="EventBase")
O = TypeVar("O")  # noqa: E741


@dataclass(frozen=True)
class Answer:
    """What one listener came to; `duration` in seconds."""

    plugin: str
    outcome: object = None
    error: str | None = None
    timed_out: bool = False
    blocks: bool = False
    duration: float = 0.0


@dataclass(frozen=True)
class Emission(Generic[O]):
    """What all listeners of one event came to.

    `failure` is set where a listener whose failure blocks did fail: the text says so for a reader. It beats `outcome`.
    """

    outcome: O | None = None
    answers: tuple[Answer, ...] = ()
    failure: str | None = None


NOTHING: Emission[Any] = Emission()


class Dispatcher:
    """Emits events to the listeners that pluggy holds.

    `report` gets a text for each listener that failed, and what listeners want the person to see. `origin` describes the
    session at this moment.
    """

    def __init__(
        self, manager: pluggy.PluginManager, report: Callable[[str], None], origin: Callable[[], Origin]
    ) -> None:
        self._hooks = manager.hook
        self._report = report
        self._origin = origin

    def adopt(self, manager: pluggy.PluginManager) -> None:
        """Call the listeners of other plugins from now on."""
        self._hooks = manager.hook

    def hears(self, name: str) -> bool:
        """Whether anybody listens to the event of that name, such as `post_tool_use`.

        It takes the name so that the event's module is imported only where somebody does.
        """
        hook = getattr(self._hooks, name, None)
        return hook is not None and bool(hook.get_hookimpls())

    async def emit(self, event: Event[E, O], value: E) -> Emission[O]:
        """Call every listener and merge what they answer, in the order of registration."""
        hook = getattr(self._hooks, event.name, None)
        # pluggy itself calls the last one first; what asks to be first or last still is.
        found = hook.get_hookimpls() if hook is not None else ()
        listeners = sorted(found, key=lambda listener: listener.trylast - listener.tryfirst)
        if not listeners:
            return NOTHING
        value = replace(value, origin=self._origin())
        if event.rewrites is not None:
            answers = await self._chain(event, value, listeners)
        else:
            async with asyncio.TaskGroup() as group:
                calls = [group.create_task(self._call(event, value, listener)) for listener in listeners]
            answers = [call.result() for call in calls]
        return _merge(event, answers)

    async def _chain(self, event: Event[E, O], value: E, listeners: Sequence[pluggy.HookImpl]) -> list[Answer]:
        answers = []
        for listener in listeners:
            answer = await self._call(event, value, listener)
            if answer.outcome is not None and event.rewrites is not None:
                value = event.rewrites(value, cast("O", answer.outcome))
            answers.append(answer)
        return answers

    async def _call(self, event: Event[E, O], value: E, listener: pluggy.HookImpl) -> Answer:
        options = options_of(listener.function)
        limit = options.timeout or event.deadline
        blocks = (options.on_failure or ("block" if event.kind == "decide" else "continue")) == "block"
        started = time.perf_counter()
        try:
            async with asyncio.timeout(limit) as clock:
                outcome = await _run(listener.function, value)
            check_answer(event, outcome)
        except BaseException as error:
            if not is_own(error):
                raise
            expired = isinstance(error, TimeoutError) and clock.expired()
            said = f"timed out after {limit:g} s" if expired else f"failed: {type(error).__name__}: {error}"
            self._report(f"The {event.title} listener of {listener.plugin_name!r} {said}")
            spent = time.perf_counter() - started
            return Answer(listener.plugin_name, None, said, timed_out=expired, blocks=blocks, duration=spent)
        if message := getattr(outcome, "system_message", ""):
            self._report(message)
        return Answer(listener.plugin_name, outcome, duration=time.perf_counter() - started)


async def _run(function: Callable[..., Any], value: object) -> object:
    if inspect.iscoroutinefunction(function):
        return await function(value)
    outcome = await _in_thread(function, value)
    return await outcome if inspect.isawaitable(outcome) else outcome


async def _in_thread(function: Callable[..., Any], value: object) -> Any:
    """Run a sync listener beside the event loop, so that one that hangs can be left behind.

    The thread is a daemon of its own: an executor's threads would be waited for at exit.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def finish(result: Any, error: BaseException | None) -> None:
        if not done.done():
            if error is not None:
                done.set_exception(error)
            else:
                done.set_result(result)

    def work() -> None:
        result, failure = None, None
        try:
            result = function(value)
        except BaseException as error:
            # A future takes no StopIteration, and Ctrl-C comes from a person only.
            is_odd = isinstance(error, StopIteration | KeyboardInterrupt)
            failure = RuntimeError(f"{type(error).__name__}: {error}") if is_odd else error
        with suppress(RuntimeError):  # the loop may be closed by now
            loop.call_soon_threadsafe(finish, result, failure)

    threading.Thread(target=work, name="toolpost-listener", daemon=True).start()
    return await done


def _merge(event: Event[Any, O], answers: Sequence[Answer]) -> Emission[O]:
    outcomes = [cast("O", answer.outcome) for answer in answers if answer.outcome is not None]
    failed = [answer for answer in answers if answer.error is not None and answer.blocks]
    failure = "; ".join(f"the {event.title} hook of {a.plugin!r} {a.error}" for a in failed) or None
    return Emission(event.merge(outcomes) if outcomes else None, tuple(answers), failure)
