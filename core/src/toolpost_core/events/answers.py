"""Checks what a listener answers, so that a mistake in it is told of the listener and not of what was to use it."""

from __future__ import annotations

import dataclasses
import typing
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolpost import Event


class Answers:
    """Checks answers; what an event's and an outcome's annotations come to is worked out once."""

    def __init__(self) -> None:
        self._kinds: dict[Event[Any, Any], tuple[type, ...]] = {}
        self._allowed: dict[type, tuple[tuple[str, tuple[Any, ...]], ...]] = {}

    def check(self, event: Event[Any, Any], outcome: object) -> None:
        """Raise TypeError for an answer that is not of the event's kind, or has a value that its fields do not allow."""
        if outcome is None:
            return
        if event not in self._kinds:
            self._kinds[event] = _kinds_of(event)
        kinds = self._kinds[event]
        if kinds and not isinstance(outcome, kinds):
            raise TypeError(f"it answered {outcome!r:.200}, which is no {kinds[0].__name__}")
        if type(outcome) not in self._allowed:
            self._allowed[type(outcome)] = tuple(_allowed_in(type(outcome)))
        for name, allowed in self._allowed[type(outcome)]:
            value = getattr(outcome, name)
            if value is not None and value not in allowed:
                words = ", ".join(repr(word) for word in allowed)
                raise TypeError(f"{type(outcome).__name__}.{name} is {value!r:.200}; allowed are {words} and None")


def _kinds_of(event: Event[Any, Any]) -> tuple[type, ...]:
    try:
        answer = typing.get_type_hints(event.spec).get("return")
    except NameError:  # an event that was declared where its types can't be looked up
        return ()
    return tuple(kind for kind in typing.get_args(answer) or (answer,) if isinstance(kind, type))


def _allowed_in(kind: type) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the fields that allow certain words only, with the words."""
    if not dataclasses.is_dataclass(kind):
        return
    try:
        hints = typing.get_type_hints(kind)
    except NameError:  # a type that only a type checker imports; such an outcome has no field of this kind
        return
    for field in dataclasses.fields(kind):
        if words := _words(hints[field.name]):
            yield field.name, words


def _words(hint: Any) -> tuple[Any, ...]:
    """Return what a Literal, or an optional one, allows; nothing for other types."""
    if typing.get_origin(hint) is Literal:
        return typing.get_args(hint)
    return next((typing.get_args(h) for h in typing.get_args(hint) if typing.get_origin(h) is Literal), ())
