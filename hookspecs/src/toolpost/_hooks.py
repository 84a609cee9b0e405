"""What hooks are made of: the pluggy markers, `Event`, and the version of this API."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import cached_property
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar, overload

import pluggy

from toolpost._frozen import frozen

PROJECT: Final = "toolpost"
HOOKSPEC_VERSION: Final = "1.0.0"
"""Semantic version of the hookspecs: additive in a minor, removals only in a major after a minor that warned."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)

E = TypeVar("E")
O = TypeVar("O")  # noqa: E741 - the pair E, O is what style.md and the docs call an event and its outcome
Owner = TypeVar("Owner")

Listener: TypeAlias = Callable[[E], Awaitable[O | None] | O | None]
Coro: TypeAlias = Coroutine[Any, Any, O | None]
Spec: TypeAlias = Callable[[E], O | None]
Merge: TypeAlias = Callable[[Sequence[O]], O]


@frozen()
class ListenerOptions:
    """What one listener asks for beyond its event's defaults."""

    on_failure: Literal["block", "continue"] | None = None
    timeout: float | None = None


class Marks(ABC, Generic[E, O]):
    """Marks functions, and methods of plugins, as listeners of an event; each keeps its type, `async` or not."""

    @overload
    def __call__(self, listener: Callable[[E], Coro[O]]) -> Callable[[E], Coro[O]]: ...

    @overload
    def __call__(self, listener: Callable[[E], O | None]) -> Callable[[E], O | None]: ...

    @overload
    def __call__(self, listener: Callable[[E], Awaitable[O | None]]) -> Callable[[E], Awaitable[O | None]]: ...

    @overload
    def __call__(self, listener: Callable[[Owner, E], Coro[O]]) -> Callable[[Owner, E], Coro[O]]: ...

    @overload
    def __call__(self, listener: Callable[[Owner, E], O | None]) -> Callable[[Owner, E], O | None]: ...

    @overload
    def __call__(
        self, listener: Callable[[Owner, E], Awaitable[O | None]]
    ) -> Callable[[Owner, E], Awaitable[O | None]]: ...

    def __call__(self, listener: Callable[..., Any]) -> Callable[..., Any]:
        """Mark a function, or a plugin's method, as a listener; its parameter is called `event`."""
        return self._mark(listener)

    @abstractmethod
    def _mark(self, listener: Callable[..., Any]) -> Callable[..., Any]: ...


@frozen(eq=False)
class Event(Marks[E, O]):
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

    @cached_property
    def name(self) -> str:
        """The hook's name, such as `pre_tool_use`."""
        return self.spec.__name__

    @cached_property
    def title(self) -> str:
        """The name that settings and programs use, such as `PreToolUse`."""
        return "".join(word.capitalize() for word in self.name.split("_"))

    def listener(
        self, *, on_failure: Literal["block", "continue"] | None = None, timeout: float | None = None
    ) -> Marks[E, O]:
        """Mark a function, or a method, as a listener with a time limit (seconds) or failure rule of its own.

        Raises ValueError for a failure that is to block where the event is observed only, and for a time that is none.
        """
        if on_failure == "block" and self.kind == "observe":
            raise ValueError(
                f'on.{self.name}.listener(on_failure="block"): {self.title} is observed, so that nothing is held back '
                "where a listener fails. Leave on_failure out, or listen to an event of the kind decide: "
                "`toolpost hooks list --events` shows them"
            )
        if timeout is not None and not timeout > 0:
            raise ValueError(f"on.{self.name}.listener(timeout={timeout!r}): it must be a number of seconds above 0")
        return _WithOptions(self, ListenerOptions(on_failure, timeout))

    def _mark(self, listener: Callable[..., Any]) -> Callable[..., Any]:
        return hookimpl(specname=self.name)(listener)


class _WithOptions(Marks[E, O]):
    """What `Event.listener` returns."""

    def __init__(self, event: Event[E, O], options: ListenerOptions) -> None:
        self._event = event
        self._options = options

    def _mark(self, listener: Callable[..., Any]) -> Callable[..., Any]:
        vars(listener)["toolpost_listener"] = self._options
        return self._event._mark(listener)


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
