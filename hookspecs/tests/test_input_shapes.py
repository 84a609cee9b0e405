"""Plain annotations are read without pydantic, and read the same inputs as pydantic does."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpost import InvalidInput, Param
from toolpost._pydantic import model_shape
from toolpost._schema import PlainShape, shape_of, shape_of_function


@dataclass(frozen=True)
class Item:
    """Nested."""

    name: str
    done: bool = False


@dataclass(frozen=True)
class Everything:
    """One of each plain annotation."""

    text: str
    count: int
    place: Path
    ratio: float = 0.5
    kind: Literal["a", "b"] = "a"
    flag: bool | None = None
    items: list[Item] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)


VALUES = st.fixed_dictionaries(
    {"text": st.text(max_size=5), "count": st.integers(-9, 9), "place": st.sampled_from(["a.txt", "/b/c"])},
    optional={
        "ratio": st.floats(-5, 5) | st.integers(-5, 5),
        "kind": st.sampled_from(["a", "b", "c"]),
        "flag": st.booleans() | st.none(),
        "items": st.lists(st.fixed_dictionaries({"name": st.text(max_size=3)}, optional={"done": st.booleans()})),
        "extra": st.dictionaries(st.text(max_size=2), st.integers()),
    },
)
WRONG: st.SearchStrategy[Any] = st.sampled_from([None, [], {}, [1], "x", 1.5, 3])


@given(VALUES)
def test_a_legal_input_reads_the_same_either_way(raw: dict[str, Any]) -> None:
    assert _read(shape_of(Everything), raw) == _read(model_shape(Everything), raw)


@given(VALUES, st.sampled_from(["text", "count", "ratio", "kind", "flag", "items", "extra"]), WRONG)
def test_an_input_that_pydantic_refuses_is_refused(raw: dict[str, Any], key: str, wrong: Any) -> None:
    raw = raw | {key: wrong}
    ours, theirs = _read(shape_of(Everything), raw), _read(model_shape(Everything), raw)
    assert ours == theirs or (key == "flag" and theirs is not None)


def test_both_schemas_name_the_same_parameters() -> None:
    ours, theirs = shape_of(Everything).schema, model_shape(Everything).schema
    assert set(ours["properties"]) == set(theirs["properties"])
    assert ours["required"] == theirs["required"]


def test_every_mistake_is_named_at_once() -> None:
    with pytest.raises(InvalidInput) as caught:
        shape_of(Everything).parse({"text": 5, "place": "x", "items": [{"nome": "x"}], "what": 1})
    for name in ("`text`", "`count`", "`items[0].name`", "`items[0].nome`", "`what`"):
        assert name in str(caught.value)


def test_numbers_that_a_model_wrote_as_text_are_taken_as_numbers() -> None:
    read = shape_of(Everything).parse({"text": "x", "place": "x", "count": "7", "ratio": "0.25", "flag": "true"})
    assert (read.count, read.ratio, read.flag) == (7, 0.25, True)


def test_a_description_an_alias_and_bounds_stand_in_the_schema_and_are_kept() -> None:
    async def look(n: Annotated[int, Param("How many", alias="-n", minimum=1, maximum=5)]) -> None: ...

    shape = shape_of_function(look)
    assert shape.schema["properties"] == {
        "-n": {"description": "How many", "type": "integer", "minimum": 1, "maximum": 5}
    }
    assert shape.parse({"-n": 5}) == {"n": 5}
    for wrong in (0, 6):
        with pytest.raises(InvalidInput, match="-n"):
            shape.parse({"-n": wrong})


def test_an_annotation_that_is_not_plain_is_left_to_pydantic() -> None:
    async def book(day: date) -> None: ...

    shape = shape_of_function(book)
    assert not isinstance(shape, PlainShape)
    assert shape.parse({"day": "2026-01-31"}) == {"day": date(2026, 1, 31)}
    with pytest.raises(InvalidInput, match="`day`"):
        shape.parse({"day": "soon"})


@pytest.mark.parametrize("signature", ["*args: int", "**kwargs: int", "bare"])
def test_a_parameter_that_no_input_can_name_is_refused_when_the_schema_is_made(signature: str) -> None:
    namespace: dict[str, Any] = {}
    exec(f"async def broken({signature}) -> None: ...", namespace)
    with pytest.raises(TypeError, match="broken"):
        shape_of_function(namespace["broken"])


def _read(shape: Any, raw: dict[str, Any]) -> Any:
    try:
        return shape.parse(raw)
    except InvalidInput:
        return None
