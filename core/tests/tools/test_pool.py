"""Which tools a session offers, where they have old names or take each other's place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from toolpost import Rule, Tool, ToolResult, tool
from toolpost_core.tools.pool import Entry, Pool, assemble


def named(overrides: str = "") -> Tool[object]:
    @tool(name="search", aliases=("find",), overrides=overrides)
    async def search(text: str) -> str:
        """Search."""
        return text

    return search  # type: ignore[return-value]


def pool(*entries: Entry, told: list[str] | None = None, **options: object) -> Pool:
    report = (told if told is not None else []).append
    return assemble(entries, options={}, report=report, **options)  # type: ignore[arg-type]


OURS = Entry(named(), "search", "acme-search")


@pytest.mark.parametrize("name", ["search", "find"])
def test_a_tool_is_asked_for_and_denied_by_either_of_its_names(name: str) -> None:
    told: list[str] = []

    assert pool(OURS, only=[name], told=told).names == ("search",)
    assert pool(OURS, rules=[Rule.parse(name, "deny")], told=told).names == ()
    assert pool(OURS, only=["other"]).names == ()
    assert told == []


@pytest.mark.parametrize("named_as", ["search", "acme-search"])
def test_a_tool_that_says_whose_place_it_takes_takes_it_without_a_warning(named_as: str) -> None:
    told: list[str] = []
    theirs = Entry(named(named_as), "better", "zeta-search")
    made = pool(OURS, theirs, told=told)

    assert made.entries == (theirs,)
    assert made.absent[0].entry is OURS
    assert told == []


def test_two_tools_of_one_name_are_both_named() -> None:
    told: list[str] = []

    assert pool(OURS, Entry(named(), "better", "zeta-search"), told=told).entries == (OURS,)
    assert "acme-search" in told[0]
    assert "zeta-search" in told[0]


def test_an_alias_that_is_another_tools_name_goes_to_that_one_and_is_told() -> None:
    @tool(name="find")
    async def find() -> str:
        """Find."""
        return ""

    told: list[str] = []
    theirs = Entry(find, "find", "zeta-find")
    made = pool(OURS, theirs, told=told)

    assert made.find("find") is theirs
    assert made.find("search") is OURS
    assert len(told) == 1
    assert "'search'" in told[0]
    assert "zeta-find" in told[0]


def test_a_strangers_tool_takes_the_name_of_a_standard_one_only_where_it_says_so() -> None:
    ours = Entry(named(), "search", "toolpost-tool-search", standard=True)
    told: list[str] = []

    assert pool(Entry(named(), "search", "acme-search"), ours, told=told).entries == (ours,)
    assert "'search' (toolpost-tool-search) is used, since it belongs to the standard set" in told[0]
    assert "overrides='search'" in told[0]
    theirs = Entry(named("toolpost-tool-search"), "search", "acme-search")
    assert pool(theirs, ours).entries == (theirs,)


def with_schema(schema: object) -> Tool[Any]:
    class Made(Tool[Any]):
        name = "made"
        input_schema = schema  # type: ignore[assignment]

        async def call(self, input: Any, ctx: Any, progress: Any) -> ToolResult:
            raise AssertionError("nobody calls it")

    return Made()


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({}, '"type" is missing'),
        ({"type": "array"}, "\"type\" is 'array'"),
        ({"type": "strin"}, "\"type\" is 'strin'"),
        ({"type": "object", "properties": 7}, '"properties" are 7'),
        ({"type": "object", "properties": {"a": "text"}}, "property 'a' is 'text'"),
        ({"type": "object", "properties": {1: {}}}, '"properties" have the key 1'),
        ({"type": "object", "required": "a"}, "\"required\" is 'a'"),
        ({"type": "object", "required": [1]}, '"required" is [1]'),
        (["type"], "it is ['type']"),
        ("object", "it is 'object'"),
    ],
)
def test_a_tool_whose_schema_a_service_would_refuse_is_left_out_and_named(schema: object, said: str) -> None:
    told: list[str] = []
    made = pool(OURS, Entry(with_schema(schema), "maker", "acme-maker"), told=told)

    assert [spec.name for spec in made.specs] == ["search"]
    assert [absent.why in told[0] for absent in made.absent] == [True]
    assert told[0].startswith("The tool 'made' of 'maker' (acme-maker) is left out: its input_schema ")
    assert said in told[0]
    assert len(told) == 1


def test_a_replacement_that_no_service_would_take_replaces_nothing() -> None:
    class Better(type(with_schema({}))):  # type: ignore[misc]
        name = "search"
        overrides = "search"

    made = pool(OURS, Entry(Better(), "better", "zeta-search"))

    assert made.entries == (OURS,)
    assert "no schema of an object" in made.absent[0].why


@pytest.mark.parametrize(
    "schema", [{"type": "object"}, {"type": "object", "properties": {"a": True, "b": {}}, "required": ["a"]}]
)
def test_a_tool_with_the_schema_of_an_object_is_offered_with_it(schema: Mapping[str, Any]) -> None:
    assert pool(Entry(with_schema(schema), "maker", "acme-maker")).specs[0].input_schema == schema
