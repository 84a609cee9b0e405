"""Frozen dataclasses that cost a third: a start makes a hundred, each with six methods that `dataclass` compiles.

Measured for six fields on CPython 3.11: 1.24 ms a class with `dataclass(frozen=True)`, 0.37 ms with this.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(*, kw_only: bool = False, eq: bool = True) -> Callable[[type[T]], type[T]]:
    """Make a class a frozen dataclass that behaves as one of `dataclass(frozen=True, kw_only=…, eq=…)`.

    Only `__init__` is compiled for the class. A class with another dataclass among its bases is made by `dataclass`
    itself, which asks that all of them are frozen or none.
    """

    as_usual: Callable[[type[T]], type[T]] = dataclass(frozen=True, kw_only=kw_only, eq=eq)

    def made(cls: type[T]) -> type[T]:
        if any("__dataclass_fields__" in vars(base) for base in cls.__mro__[1:]):
            return as_usual(cls)
        data: Any = dataclass(kw_only=kw_only, eq=False, repr=False)(cls)
        data.__dataclass_params__.frozen = True  # for who makes a subclass with `dataclass`
        data.__setattr__, data.__delattr__ = _set_once, _refuse_to_delete
        if "__repr__" not in vars(cls):
            data.__repr__ = _shown
        if eq:
            data.__eq__, data.__hash__ = _comparison(*(one.name for one in fields(data) if one.compare))
        return cls

    return made


def _set_once(self: Any, name: str, value: Any) -> None:
    """Set a field, as `__init__` does, and never again."""
    own = self.__dict__
    if name in own or name not in self.__dataclass_fields__:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    own[name] = value


def _refuse_to_delete(self: Any, name: str) -> None:
    del self
    raise FrozenInstanceError(f"cannot delete field {name!r}")


@recursive_repr()
def _shown(self: Any) -> str:
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _comparison(*names: str) -> tuple[Callable[[Any, object], Any], Callable[[Any], int]]:
    """Return `__eq__` and `__hash__` over the fields."""
    values: Callable[[Any], Any] = attrgetter(*names) if names else lambda _: ()

    def equals(self: Any, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    def hashed(self: Any) -> int:
        return hash(values(self))

    return equals, hashed
