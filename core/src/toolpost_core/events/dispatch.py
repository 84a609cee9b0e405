"""Emits lifecycle events: listeners are called isolated, ordered, timed, time-limited, attributed, and merged."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

from toolpost_core.events.outside import Outside
from toolpost_core.plugins.listening import ListenerRules

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    import pluggy

    from toolpost import Event
    from toolpost.events._base import EventBase, Origin
    from toolpost_core.events.listeners import Listeners

E = TypeVar("E", bound="EventBase")
O = TypeVar("O")  # noqa: E741


class Answer(NamedTuple):
    """What one listener came to; `duration` in seconds."""

    plugin: str
    duration: float = 0.0
    outcome: object = None
    error: str | None = None
    timed_out: bool = False
    blocks: bool = False


class Emission(NamedTuple, Generic[O]):
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
    session at this moment, `outside` may answer in the place of listeners. A listener that failed three times is off from
    then on; where its failure blocks, that goes on to block.
    """

    def __init__(
        self,
        manager: pluggy.PluginManager,
        report: Callable[[str], None],
        origin: Callable[[], Origin],
        outside: Outside | None = None,
    ) -> None:
        self._report = report
        self._origin = origin
        self._outside = outside or Outside()
        self._listeners: Listeners | None = None
        self.adopt(manager)

    def adopt(self, manager: pluggy.PluginManager, anew: Container[str] = ()) -> None:
        """Call the listeners of other plugins from now on; of failures so far, those of the plugins `anew` are forgotten."""
        self._hooks = manager.hook
        self._rules: ListenerRules = getattr(manager, "rules", None) or ListenerRules()
        if self._listeners is not None:
            self._listeners.adopt(self._rules, anew)

    def beside(self, origin: Callable[[], Origin]) -> Dispatcher:
        """Return a dispatcher of the same listeners for events that come from elsewhere; failures are counted together."""
        other = copy(self)
        other._origin, other._listeners = origin, self._called()
        return other

    def quarantined(self) -> list[tuple[str, str]]:
        """Return plugin and hook of every listener that is off after its failures."""
        return self._listeners.quarantined() if self._listeners is not None else []

    def account(self) -> dict[str, Any]:
        """Return what listeners took since the last time, and which are off: the fields of `times.RECORD`."""
        return self._listeners.account() if self._listeners is not None else {}

    def hears(self, name: str) -> bool:
        """Whether anybody listens to the event of that name, such as `post_tool_use`.

        It takes the name so that the event's module is imported only where somebody does.
        """
        hook = getattr(self._hooks, name, None)
        return self._outside.hears(name, hook is not None and bool(hook.get_hookimpls()))

    async def emit(self, event: Event[E, O], value: E) -> Emission[O]:
        """Call every listener and merge what they answer, in their order."""
        if not self.hears(event.name):
            return NOTHING
        told = _from(value, self._origin())
        return await self._outside.event(event.name, told, lambda: self._emitted(event, told))

    async def _emitted(self, event: Event[E, O], value: E) -> Emission[O]:
        hook = getattr(self._hooks, event.name, None)
        return NOTHING if hook is None else _merge(event, await self._called().call(event, hook, value))

    def _called(self) -> Listeners:
        if self._listeners is None:
            from toolpost_core.events.listeners import Listeners

            self._listeners = Listeners(self._rules, self._report)
        return self._listeners


def _from(value: E, origin: Origin) -> E:
    """Return the event with its origin; making a whole new one would cost as much as calling a listener."""
    made = object.__new__(type(value))
    vars(made).update(vars(value), origin=origin)
    return made


def _merge(event: Event[Any, O], answers: Sequence[Answer]) -> Emission[O]:
    outcomes, failures = [], []
    for answer in answers:
        if answer.outcome is not None:
            outcomes.append(cast("O", answer.outcome))
        if answer.error is not None and answer.blocks:
            failures.append(f"the {event.title} hook of {answer.plugin!r} {answer.error}")
    return Emission(event.merge(outcomes) if outcomes else None, tuple(answers), "; ".join(failures) or None)
