"""Calls the listeners of lifecycle events: isolated, ordered, timed, time-limited, attributed, merged."""

from __future__ import annotations

import asyncio
import inspect
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

from toolpost._hooks import options_of
from toolpost_core.events.answers import Answers
from toolpost_core.events.isolation import is_own
from toolpost_core.plugins.capabilities import ROLES
from toolpost_core.plugins.listening import ListenerRules

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pluggy

    from toolpost import Event
    from toolpost.events._base import EventBase, Origin
    from toolpost_core.events.threads import Threads
    from toolpost_core.events.times import Times

E = TypeVar("E", bound="EventBase")
O = TypeVar("O")  # noqa: E741

STRIKES: Final = 3
"""Failures after which a listener is not called any more."""


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


@dataclass(frozen=True)
class _Terms:
    """How one listener is called: what it may do, its seconds, and whether its failure blocks."""

    roles: tuple[str, ...]
    limit: float
    blocks: bool
    is_async: bool


NOTHING: Emission[Any] = Emission()


class Dispatcher:
    """Emits events to the listeners that pluggy holds.

    `report` gets a text for each listener that failed, and what listeners want the person to see. `origin` describes the
    session at this moment. A listener that failed three times is off from then on; where its failure blocks, that goes on
    to block.
    """

    def __init__(
        self, manager: pluggy.PluginManager, report: Callable[[str], None], origin: Callable[[], Origin]
    ) -> None:
        self._report = report
        self._origin = origin
        self._threads: Threads | None = None
        self.times: Times | None = None
        self._answers = Answers()
        self._dropped: set[tuple[str, str]] = set()
        self.adopt(manager)

    def adopt(self, manager: pluggy.PluginManager) -> None:
        """Call the listeners of other plugins from now on."""
        self._hooks = manager.hook
        self._rules: ListenerRules = getattr(manager, "rules", None) or ListenerRules()
        self._strikes: dict[pluggy.HookImpl, int] = {}
        self._terms: dict[pluggy.HookImpl, _Terms] = {}

    def quarantined(self) -> list[tuple[str, str]]:
        """Return plugin and hook of every listener that is off after its failures."""
        off = [listener for listener, strikes in self._strikes.items() if strikes >= STRIKES]
        return [(listener.plugin_name, listener.opts["specname"] or listener.function.__name__) for listener in off]

    def hears(self, name: str) -> bool:
        """Whether anybody listens to the event of that name, such as `post_tool_use`.

        It takes the name so that the event's module is imported only where somebody does.
        """
        hook = getattr(self._hooks, name, None)
        return hook is not None and bool(hook.get_hookimpls())

    async def emit(self, event: Event[E, O], value: E) -> Emission[O]:
        """Call every listener and merge what they answer, in their order."""
        hook = getattr(self._hooks, event.name, None)
        found = hook.get_hookimpls() if hook is not None else ()
        if not found:
            return NOTHING
        listeners = sorted(found, key=self._rules.rank)
        value = replace(value, origin=self._origin())
        if event.rewrites is not None:
            answers = await self._chain(event, value, listeners)
        else:
            async with asyncio.TaskGroup() as group:
                calls = [group.create_task(self._call(event, value, listener)) for listener in listeners]
            answers = [call.result() for call in calls]
        if self.times is None:
            from toolpost_core.events.times import Times

            self.times = Times()
        self.times.add(event.title, answers)
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
        terms = self._terms.get(listener)
        if terms is None:
            terms = self._terms[listener] = self._terms_of(event, listener)
        roles, limit, blocks = terms.roles, terms.limit, terms.blocks
        if self._strikes.get(listener, 0) >= STRIKES:
            return Answer(listener.plugin_name, None, f"is off after {STRIKES} failures", blocks=blocks)
        started, clock = time.perf_counter(), None
        try:
            outcome = listener.function(value) if terms.is_async else self._in_thread(listener, value)
            if outcome is not None and inspect.isawaitable(outcome):
                async with asyncio.timeout(limit) as clock:
                    outcome = await outcome
            self._answers.check(event, outcome)
        except BaseException as error:
            if not is_own(error):
                raise
            expired = clock is not None and clock.expired() and isinstance(error, TimeoutError)
            said = f"timed out after {limit:g} s" if expired else f"failed: {type(error).__name__}: {error}"
            self._report(f"The {event.title} listener of {listener.plugin_name!r} {said}")
            self._strike(event, listener, blocks=blocks)
            spent = time.perf_counter() - started
            return Answer(listener.plugin_name, None, said, timed_out=expired, blocks=blocks, duration=spent)
        if len(roles) < len(ROLES):
            outcome = self._permitted(event, listener, outcome, roles)
        if message := getattr(outcome, "system_message", ""):
            self._report(message)
        return Answer(listener.plugin_name, outcome, duration=time.perf_counter() - started)

    def _terms_of(self, event: Event[Any, Any], listener: pluggy.HookImpl) -> _Terms:
        options = options_of(listener.function)
        roles = self._rules.roles(listener.plugin_name, event.name)
        wanted = options.on_failure or ("block" if event.kind == "decide" else "continue")
        return _Terms(
            tuple(roles),
            options.timeout or event.deadline,
            wanted == "block" and "decide" in roles,
            inspect.iscoroutinefunction(listener.function),
        )

    def _in_thread(self, listener: pluggy.HookImpl, value: object) -> object:
        """Call a sync listener; return its answer, or what is to be awaited for it."""
        if self._threads is None:
            from toolpost_core.events.threads import Threads

            self._threads = Threads()
        return self._threads.call(listener.function, value)

    def _strike(self, event: Event[Any, Any], listener: pluggy.HookImpl, *, blocks: bool) -> None:
        strikes = self._strikes[listener] = self._strikes.get(listener, 0) + 1
        if strikes == STRIKES:
            name = listener.plugin_name.partition("/")[2] or listener.plugin_name
            goes_on = "what it guards stays blocked" if blocks else "the session goes on without it"
            self._report(
                f"The {event.title} listener of {listener.plugin_name!r} failed {STRIKES} times and is off for this "
                f"session; {goes_on}. Mend it, or turn it off: toolpost plugins disable {name}"
            )

    def _permitted(
        self, event: Event[Any, Any], listener: pluggy.HookImpl, outcome: object, roles: Sequence[str]
    ) -> object:
        """Drop what the plugin did not declare, and say so once for an event."""
        from toolpost_core.events.rights import within

        kept, missing = within(outcome, roles)
        key = (listener.plugin_name, event.name)
        if missing and key not in self._dropped:
            self._dropped.add(key)
            declared = self._rules.declared(listener.plugin_name)
            fields = ", ".join(name for names in missing.values() for name in names)
            line = f'{event.name} = "{"|".join(role for role in ROLES if role in (*roles, *missing))}"'
            self._report(
                f"The {event.title} listener of {listener.plugin_name!r} answered {fields}, which its plugin does not "
                f"declare; that was dropped. Its author adds to [capabilities.events] in "
                f"{declared.file if declared else 'its toolpost.toml'}: {line}"
            )
        return kept


def _merge(event: Event[Any, O], answers: Sequence[Answer]) -> Emission[O]:
    outcomes = [cast("O", answer.outcome) for answer in answers if answer.outcome is not None]
    failed = [answer for answer in answers if answer.error is not None and answer.blocks]
    failure = "; ".join(f"the {event.title} hook of {a.plugin!r} {a.error}" for a in failed) or None
    return Emission(event.merge(outcomes) if outcomes else None, tuple(answers), failure)
