"""What hooks are made of: the pluggy markers, `Event`, and the version of this API."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar, overload

import pluggy

PROJECT: Final = "toolpost"
HOOKSPEC_VERSION: Final = "1.0.0"
"""Semantic version of the hookspecs: additive in a minor, removals only in a major after a minor that warned."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)

E = TypeVar("E")
O = TypeVar("O")  # noqa: E741 - the pair E, O is what style.md and the docs call an event and its outcome

Listener: TypeAlias = Callable[[E], Awaitable[O | None] | O | None]
MethodListener: TypeAlias = Callable[[Any, E], Awaitable[O | None] | O | None]
Spec: TypeAlias = Callable[[E], O | None]
Merge: TypeAlias = Callable[[Sequence[O]], O]


@dataclass(frozen=True)
class ListenerOptions:
    """What one listener asks for beyond its event's defaults."""

    on_failure: Literal["block", "continue"] | None = None
    timeout: float | None = None


@dataclass(frozen=True, eq=False)
class Event(Generic[E, O]):
    """One lifecycle event: its spec, the decorator for its listeners, and its merge rule.

    `kind` says whether an answer decides something; a failing listener of a `decide` event blocks, one of an `observe`
    event is reported and passed over. `rewrites` events call their listeners one after another, each with what the one
    before made of the event. `deadline` is in seconds, for each listener that sets no `timeout` of its own. `preview`
    events may still change in a minor.
    """

    spec: Spec[E, O]
    kind: Literal["observe", "decide"]
    merge: Merge[O]
    rewrites: Callable[[E, O], E] | None = None
    deadline: float = 10.0
    preview: bool = False

    @property
    def name(self) -> str:
        """The hook's name, such as `pre_tool_use`."""
        return self.spec.__name__

    @property
    def title(self) -> str:
        """The name that settings and programs use, such as `PreToolUse`."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    @overload
    def __call__(self, listener: Listener[E, O]) -> Listener[E, O]: ...

    @overload
    def __call__(self, listener: MethodListener[E, O]) -> MethodListener[E, O]: ...

    def __call__(self, listener: Callable[..., Any]) -> Callable[..., Any]:
        """Mark a function, or a plugin's method, as a listener of this event; its parameter is called `event`."""
        return hookimpl(specname=self.name)(listener)

    def listener(
        self, *, on_failure: Literal["block", "continue"] | None = None, timeout: float | None = None
    ) -> Callable[[Listener[E, O]], Listener[E, O]]:
        """Mark a function as a listener with a time limit (seconds) or failure rule of its own."""

        def mark(listener: Listener[E, O]) -> Listener[E, O]:
            vars(listener)["toolpost_listener"] = ListenerOptions(on_failure, timeout)
            return self(listener)

        return mark


def options_of(listener: Callable[..., Any]) -> ListenerOptions:
    """Return what `Event.listener` stored on a function, or the defaults."""
    inner = getattr(listener, "__func__", listener)
    return getattr(inner, "toolpost_listener", None) or ListenerOptions()


def event(
    kind: Literal["observe", "decide"],
    merge: Merge[O],
    *,
    rewrites: Callable[[E, O], E] | None = None,
    deadline: float = 10.0,
    preview: bool = False,
) -> Callable[[Spec[E, O]], Event[E, O]]:
    """Declare an event: the decorated function is its spec, its docstring the contract."""

    def declare(spec: Spec[E, O]) -> Event[E, O]:
        return Event(spec, kind, merge, rewrites, deadline, preview)

    return declare


class RemovedInHookspec2Warning(DeprecationWarning):
    """Emitted when a plugin implements a hook or an argument that hookspecs 2 removes; names the plugin."""
