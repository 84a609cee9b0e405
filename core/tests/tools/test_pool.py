"""Which tools a session offers, where they have old names or take each other's place."""

from __future__ import annotations

import pytest

from toolpost import Rule, Tool, tool
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
