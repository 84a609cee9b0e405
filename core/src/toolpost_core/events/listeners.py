"""Calls the listeners of a session, tells of what goes wrong, and keeps account; loaded when the first event is heard."""

from __future__ import annotations

import asyncio
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from toolpost_core.events.calls import Calls
from toolpost_core.events.dispatch import Answer
from toolpost_core.events.quarantine import STRIKES, Quarantine, notice
from toolpost_core.events.terms import terms_of
from toolpost_core.events.times import Times
from toolpost_core.plugins.capabilities import ROLES

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    import pluggy

    from toolpost import Event
    from toolpost_core.events.calls import Came
    from toolpost_core.events.terms import Terms
    from toolpost_core.events.threads import Threads
    from toolpost_core.plugins.listening import ListenerRules


class Listeners:
    """The listeners of one session; `report` gets what a person is to see."""

    def __init__(self, rules: ListenerRules, report: Callable[[str], None]) -> None:
        self._report = report
        self._calls = Calls()
        self._threads: Threads | None = None
        self._quarantine = Quarantine()
        self._times = Times()
        self._dropped: set[tuple[str, str]] = set()
        self.adopt(rules)

    def adopt(self, rules: ListenerRules, anew: Container[str] = ()) -> None:
        """Go by other plugins' rules from now on; failures of the plugins `anew` are forgotten."""
        self._rules = rules
        self._terms: dict[pluggy.HookImpl, Terms] = {}
        self._orders: dict[str, tuple[Sequence[pluggy.HookImpl], Sequence[Terms]]] = {}
        self._quarantine.forget(anew)

    def quarantined(self) -> list[tuple[str, str]]:
        """Return plugin and hook of every listener that is off."""
        return [(listener.plugin, listener.event.name) for listener in self._quarantine.held()]

    def account(self) -> dict[str, Any]:
        """Return the fields of `times.RECORD`, and begin anew with the times."""
        return {"listeners": self._times.take(), "quarantined": self._quarantine.rows()}

    async def call(self, event: Event[Any, Any], hook: pluggy.HookCaller, value: Any) -> list[Answer]:
        """Call every listener of an event; return what each came to, those that are off last."""
        listeners = self._ordered(event, hook)
        off = [each for each in listeners if self._quarantine.holds(each)] if self._quarantine.anybody else []
        due = [listener for listener in listeners if listener not in off] if off else listeners
        call_all = self._in_turn if event.rewrites is not None else self._together
        answers = await call_all(value, due)
        self._times.add(event.title, answers)
        return [*answers, *map(_off, off)]

    async def _together(self, value: Any, listeners: Sequence[Terms]) -> list[Answer]:
        """Call listeners side by side. Those that wait for nothing need no tasks, so that is found out first."""
        answers: list[Answer] = []
        for listener in listeners:
            came = self._calls.step(listener, value) if listener.is_async else None
            if came is None or came.pending is not None:
                return answers + await self._beside(value, listeners[len(answers) :], came)
            answers.append(self._answer(listener, came))
        return answers

    async def _beside(self, value: Any, listeners: Sequence[Terms], came: Came | None) -> list[Answer]:
        """Call listeners in tasks beside this one, which goes on with the first: that may have come to where it waits."""
        first, *others = listeners
        async with asyncio.TaskGroup() as group:
            calls = [group.create_task(self._in_turn(value, [listener])) for listener in others]
            if came is None or came.pending is None:
                answers = await self._in_turn(value, [first])
            else:
                ended = await self._calls.finish(first, value, came.pending, came.duration)
                answers = [self._answer(first, ended)]
        return answers + [answer for call in calls for answer in call.result()]

    async def _in_turn(self, value: Any, listeners: Sequence[Terms]) -> list[Answer]:
        """Call listeners one after another, each with what the one before made of the event."""
        answers: list[Answer] = []
        while len(answers) < len(listeners):
            listener = listeners[len(answers)]
            if listener.is_async:
                came = self._calls.step(listener, value)
                if came.pending is not None:
                    came = await self._calls.finish(listener, value, came.pending, came.duration)
                value = came.value
                answers.append(self._answer(listener, came))
            else:
                run = [*takewhile(lambda other: not other.is_async, listeners[len(answers) :])]
                all_came = await self._run(run, value)
                answers += map(self._told, run, all_came)
                value = all_came[-1].value
        return answers

    async def _run(self, listeners: Sequence[Terms], value: Any) -> Sequence[Came]:
        """Call sync listeners in a row in one thread; return what the first of them came to, one at least."""
        if self._threads is None:
            from toolpost_core.events.threads import Threads

            self._threads = Threads(self._calls.begin)
        came = await self._threads.run(listeners, value)
        last = came[-1]
        if last.pending is not None:
            came[-1] = await self._calls.finish(listeners[len(came) - 1], last.value, last.pending, last.duration)
        return came

    def _ordered(self, event: Event[Any, Any], hook: pluggy.HookCaller) -> Sequence[Terms]:
        """Return the terms of an event's listeners in the order in which they are called; worked out anew for others."""
        found = hook.get_hookimpls()
        before = self._orders.get(event.name)
        if before is not None and before[0] == found:
            return before[1]
        terms = [self._terms_of(event, hook, impl) for impl in sorted(found, key=self._rules.rank)]
        self._orders[event.name] = (found, terms)
        return terms

    def _terms_of(self, event: Event[Any, Any], hook: pluggy.HookCaller, listener: pluggy.HookImpl) -> Terms:
        terms = self._terms.get(listener)
        if terms is None:
            terms = self._terms[listener] = terms_of(event, hook, listener, self._rules)
        return terms

    def _answer(self, listener: Terms, came: Came) -> Answer:
        if came.error is None and came.outcome is None:
            return Answer(listener.plugin, came.duration)
        return self._told(listener, came)

    def _told(self, listener: Terms, came: Came) -> Answer:
        """Tell the person what is to be told of a call, and count its failure."""
        if came.error is not None:
            self._report(f"The {listener.event.title} listener of {listener.plugin!r} {came.error}")
            if self._quarantine.add(listener, came.error):
                self._report(notice(listener))
        if came.missing:
            self._tell_of_dropped(listener, came.missing)
        if came.outcome is not None and (message := getattr(came.outcome, "system_message", "")):
            self._report(message)
        blocks = came.error is not None and listener.blocks
        return Answer(listener.plugin, came.duration, came.outcome, came.error, came.timed_out, blocks)

    def _tell_of_dropped(self, listener: Terms, missing: Mapping[str, Sequence[str]]) -> None:
        """Say once for an event of what a plugin answers and does not declare."""
        event, key = listener.event, (listener.plugin, listener.event.name)
        if key in self._dropped:
            return
        self._dropped.add(key)
        declared = self._rules.declared(listener.plugin)
        fields = ", ".join(name for names in missing.values() for name in names)
        line = f'{event.name} = "{"|".join(role for role in ROLES if role in (*listener.roles, *missing))}"'
        self._report(
            f"The {event.title} listener of {listener.plugin!r} answered {fields}, which its plugin does not "
            f"declare; that was dropped. Its author adds to [capabilities.events] in "
            f"{declared.file if declared else 'its toolpost.toml'}: {line}"
        )


def _off(listener: Terms) -> Answer:
    return Answer(listener.plugin, error=f"is off after {STRIKES} failures", blocks=listener.blocks)
