"""The contract kit of lifecycle listeners."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import toolpost
from toolpost import on
from toolpost._hooks import Event
from toolpost.events._base import EventBase, Outcome
from toolpost.testing._contract import Contract, finish, hooks_of, made
from toolpost.testing.context import make_scope


class LifecycleContract(Contract):
    """The suite for a plugin that listens to events.

    `plugin` is the module, object or class that the entry point names. `events` are examples to send to its listeners;
    for events that it hears and that have none, a bare one is sent.
    """

    plugin: Any
    events: ClassVar[Sequence[EventBase]] = ()

    def make(self) -> Any:
        """Return the plugin."""
        return made(type(self).plugin)

    def test_it_hears_events_that_exist_with_their_argument(self, folder: Path) -> None:
        """If this fails: mark functions with `@on.name_of_the_event`; they take `event` or nothing."""
        hooks_of(self.make())
        heard = [name for name, _ in self.listeners(folder)]
        assert heard, "no function is marked with @on.… and the hook `listeners` returns none"

    def test_its_answers_fit_their_events(self, folder: Path) -> None:
        """If this fails: return None or the event's own outcome; anything else is reported and dropped."""
        for name, listener, value in self._sent(folder):
            _, outcome = types_of(getattr(on, name))
            answer = finish(_called(listener, value))
            assert answer is None or isinstance(answer, outcome), f"{name}: {answer!r:.200}"

    def test_the_events_are_left_as_they_were(self, folder: Path) -> None:
        """If this fails: answer with an outcome that rewrites; all listeners are given the same event."""
        for name, listener, value in self._sent(folder):
            before = repr(value)
            finish(_called(listener, value))
            assert repr(value) == before, f"the listener of {name} changed its event"

    def _sent(self, folder: Path) -> Iterator[tuple[str, Callable[..., Any], EventBase]]:
        """Yield each listener with each example that it hears, or with a bare event."""
        for name, listener in self.listeners(folder):
            argument, _ = types_of(getattr(on, name))
            for value in [value for value in self.events if isinstance(value, argument)] or [bare(argument)]:
                yield name, listener, value

    def listeners(self, folder: Path) -> list[tuple[str, Callable[..., Any]]]:
        """Return (event name, function) of all that the plugin hears in a session."""
        plugin = self.make()
        hook = hooks_of(plugin).hook
        found = [(name, impl.function) for name in on.__all__ for impl in getattr(hook, name).get_hookimpls()]
        for answer in hook.listeners(session=make_scope(folder)):
            found += [(_specname(listener), listener) for listener in answer]
        return found


def types_of(event: Event[Any, Any]) -> tuple[type[EventBase], type[Outcome]]:
    """Return the types of an event's argument and outcome."""
    hints = typing.get_type_hints(event.spec)
    outcomes = [kind for kind in typing.get_args(hints["return"]) if kind is not type(None)]
    return hints["event"], outcomes[0] if outcomes else Outcome


def bare(kind: type[EventBase]) -> EventBase:
    """Return an event with nothing but its required fields, filled with values of their types."""
    hints = typing.get_type_hints(kind, localns=_PublicNames())
    missing = dataclasses.MISSING
    needed = [f.name for f in dataclasses.fields(kind) if f.default is missing and f.default_factory is missing]
    return kind(**{name: _value(hints[name]) for name in needed})


class _PublicNames(dict[str, Any]):
    """The names of `toolpost`, for annotations of a module that imports them for the type checker only."""

    def __missing__(self, name: str) -> Any:
        if name not in toolpost.__all__:
            raise KeyError(name)
        return getattr(toolpost, name)


def _value(hint: Any) -> Any:
    if typing.get_origin(hint) is typing.Literal:
        return typing.get_args(hint)[0]
    kind = typing.get_origin(hint) or hint
    return kind() if kind in (str, int, float, bool, Path, dict, list, tuple) else None


def _specname(listener: Callable[..., Any]) -> str:
    options = getattr(getattr(listener, "__func__", listener), "toolpost_impl", None)
    name = (options or {}).get("specname")
    assert name in on.__all__, f"{listener!r} from `listeners` is not marked with @on.…"
    return str(name)


async def _called(listener: Callable[..., Any], value: EventBase) -> Any:
    answer = listener(value) if inspect.signature(listener).parameters else listener()
    return await answer if inspect.isawaitable(answer) else answer
