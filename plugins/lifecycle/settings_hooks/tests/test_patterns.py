"""Patterns that could search for ever are refused, and those that people write are not."""

from __future__ import annotations

import time

import pytest

from toolpost_lifecycle_settings_hooks.matchers import Matcher, MatcherError


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(\w+\w+)+-x$",
        "(a|aa)+$",
        "(a+)+b",
        "(?:x*)*y",
        "((a+)b)*c",
        "(a+){10}",
        r"([a-z]+)*!",
        r"\w*\w*\w*-",
        ".*?.*?.*?x",
        "a*x.*x.*x.*x.*y",
    ],
)
def test_a_pattern_that_might_search_for_ever_is_refused(pattern: str) -> None:
    with pytest.raises(MatcherError, match="might never end"):
        Matcher.parse(pattern, "PreToolUse")


@pytest.mark.parametrize(
    "pattern",
    [
        "Edit.*",
        "mcp__.*__write.*",
        "mcp__(a|b)__(read|write)_.*",
        "^(Edit|Write)$",
        "(?:mcp__)?(Edit|Write)",
        "(?<name>Ed.*)t",
        "[a+*]+x",
        "(abc)+",
        r"^(?!.*secret).*$",
        ".*foo.*bar.*baz.*",
        r"\w+?.*",
        r"(\(+)?",
    ],
)
def test_what_people_write_is_not_and_ends_soon_whatever_the_name(pattern: str) -> None:
    matcher = Matcher.parse(pattern, "PreToolUse")
    began = time.perf_counter()
    for letters in ("a", "mcp__", "foobar", "("):
        matcher.takes(letters * 20_000)
    assert time.perf_counter() - began < 2
