"""A frozen class behaves as one of `dataclass(frozen=True)` does."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from toolpost._frozen import frozen


def ours(**options: Any) -> Callable[[type], type]:
    return frozen(**options)


def standard(**options: Any) -> Callable[[type], type]:
    return dataclasses.dataclass(frozen=True, **options)


def point(make: Callable[..., Callable[[type], type]], **options: Any) -> Any:
    @make(**options)
    class Point:
        """Two numbers, and what does not count."""

        x: int
        y: int = 2
        note: list[str] = dataclasses.field(default_factory=list, compare=False, repr=False)

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("no negative numbers")

    return Point


both = pytest.mark.parametrize("make", [ours, standard])


@frozen()
class Kept:
    """One that can be found by its name."""

    value: int


@both
def test_a_field_is_never_set_again_nor_deleted(make: Any) -> None:
    one = point(make)(1)

    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        one.x = 5
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'other'"):
        one.other = 5
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        del one.x
    assert one.x == 1


@both
def test_it_is_compared_by_the_fields_that_count(make: Any) -> None:
    made = point(make)

    assert made(1, note=["a"]) == made(1, note=["b"])
    assert made(1) != made(2)
    assert made(1) != (1, 2)
    assert len({made(1), made(1), made(2)}) == 2


@both
def test_without_comparison_it_is_itself_only(make: Any) -> None:
    made = point(make, eq=False)
    one = made(1)

    assert one == one
    assert one != made(1)
    assert len({one, made(1)}) == 2


@both
def test_it_is_made_shown_copied_and_replaced_as_a_dataclass(make: Any) -> None:
    made = point(make)
    one = made(1, note=["a"])

    assert repr(one).endswith("Point(x=1, y=2)")
    assert dataclasses.replace(one, x=3) == made(3)
    assert dataclasses.asdict(one) == {"x": 1, "y": 2, "note": ["a"]}
    assert copy.copy(one) == copy.deepcopy(one) == one
    assert made.__match_args__ == ("x", "y", "note")
    with pytest.raises(ValueError, match="no negative numbers"):
        made(-1)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        made()


@both
def test_fields_by_name_only(make: Any) -> None:
    made = point(make, kw_only=True)

    assert made(x=1) == made(x=1, y=2)
    with pytest.raises(TypeError, match="positional argument"):
        made(1)


@both
def test_one_without_fields_equals_every_other_one(make: Any) -> None:
    @make()
    class Empty:
        """Nothing."""

    assert Empty() == Empty()
    assert hash(Empty()) == hash(Empty())


@both
def test_a_dataclass_is_made_of_it(make: Any) -> None:
    @make()
    class Base:
        """What both have."""

        x: int

    @dataclasses.dataclass(frozen=True)
    class Standard(Base):
        """One that somebody else makes."""

        y: int = 0

    @frozen()
    class Derived(Base):
        """One of ours."""

        y: int = 0

    derived: list[Any] = [Standard, Derived]
    for cls in derived:
        one = cls(1, 2)
        assert (one.x, one.y) == (1, 2)
        assert one == cls(1, 2) != cls(1, 3)
        with pytest.raises(dataclasses.FrozenInstanceError):
            one.x = 5
    with pytest.raises(TypeError, match="cannot inherit non-frozen"):
        dataclasses.dataclass(type("Open", (Base,), {}))


def test_a_text_of_its_own_is_kept() -> None:
    @frozen()
    class Secret:
        """What is not shown."""

        value: str

        def __repr__(self) -> str:
            return "Secret(…)"

    assert repr(Secret("x")) == "Secret(…)"


def test_it_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(Kept(3))) == Kept(3)


def test_one_that_holds_itself_is_shown() -> None:
    within: list[Any] = []
    one = point(ours)(1, within)
    within.append(one)

    assert "..." in repr(one)
