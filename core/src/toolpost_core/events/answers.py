"""Checks what a listener answers, so that a mistake in it is told of the listener and not of what was to use it."""

from __future__ import annotations

import dataclasses
import typing
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from toolpost import Event


def check_answer(event: Event[Any, Any], outcome: object) -> None:
    """Raise TypeError for an answer that is not of the event's kind, or has a value that its fields do not allow."""
    if outcome is None:
        return
    try:
        answer = typing.get_type_hints(event.spec).get("return")
    except NameError:  # an event that was declared where its types can't be looked up
        return
    kinds = tuple(kind for kind in typing.get_args(answer) or (answer,) if isinstance(kind, type))
    if kinds and not isinstance(outcome, kinds):
        raise TypeError(f"it answered {outcome!r:.200}, which is no {kinds[0].__name__}")
    _check_words(outcome)


def _check_words(outcome: object) -> None:
    """Check the fields that allow certain words only."""
    if not dataclasses.is_dataclass(outcome):
        return
    try:
        hints = typing.get_type_hints(type(outcome))
    except NameError:  # a type that only a type checker imports; such an outcome has no field of this kind
        return
    for field in dataclasses.fields(outcome):
        allowed = _words(hints[field.name])
        value = getattr(outcome, field.name)
        if allowed and value is not None and value not in allowed:
            words = ", ".join(repr(word) for word in allowed)
            raise TypeError(f"{type(outcome).__name__}.{field.name} is {value!r:.200}; allowed are {words} and None")


def _words(hint: Any) -> tuple[Any, ...]:
    """Return what a Literal, or an optional one, allows; nothing for other types."""
    if typing.get_origin(hint) is Literal:
        return typing.get_args(hint)
    return next((typing.get_args(h) for h in typing.get_args(hint) if typing.get_origin(h) is Literal), ())
