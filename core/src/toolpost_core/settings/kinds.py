"""What a settings key may hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple


class Kind(NamedTuple):
    """A kind of value: a check, and what it allows in words. `item` is the check of what a list or an object holds."""

    fits: Callable[[Any], bool]
    says: str
    item: Callable[[Any], bool] | None = None


def one_of(*choices: str) -> Kind:
    """Return the kind of value that is one of a few texts."""
    return Kind(lambda value: value in choices, "one of " + ", ".join(choices))


def either(*kinds: Kind) -> Kind:
    """Return the kind of value that is of any of some kinds."""
    return Kind(lambda value: any(kind.fits(value) for kind in kinds), " or ".join(kind.says for kind in kinds))


def number(low: int, high: int | None = None) -> Kind:
    """Return the kind of whole number within bounds, which are included."""
    says = f"a whole number from {low}" + (f" to {high}" if high is not None else "")
    return Kind(lambda value: type(value) is int and low <= value and (high is None or value <= high), says)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_amount(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


ANY: Final = Kind(lambda _: True, "anything")
TEXT: Final = Kind(_is_text, "a text")
FLAG: Final = Kind(lambda value: isinstance(value, bool), "true or false")
AMOUNT: Final = Kind(_is_amount, "a number from 0")
TEXTS: Final = Kind(_is_list, "a list of texts", _is_text)
OBJECTS: Final = Kind(_is_list, "a list of objects", _is_object)
OBJECT: Final = Kind(_is_object, "an object")
TEXT_MAP: Final = Kind(_is_object, "an object whose values are texts", _is_text)
LIST_MAP: Final = Kind(_is_object, "an object whose values are lists", _is_list)
DISABLE: Final = one_of("disable")
