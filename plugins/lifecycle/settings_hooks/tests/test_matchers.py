from __future__ import annotations

import re

import pytest

from toolpost_lifecycle_settings_hooks.matchers import Matcher, MatcherError


@pytest.mark.parametrize(
    ("matcher", "name", "taken"),
    [
        (None, "Bash", True),
        ("", "Bash", True),
        ("*", "Bash", True),
        ("Bash", "Bash", True),
        ("Bash", "BashOutput", False),
        ("Edit", "NotebookEdit", False),
        ("Edit|Write", "Write", True),
        ("Edit | Write", "Write", True),
        ("Edit, Write", "Write", True),
        ("Edit|Write", "Read", False),
        ("my-tool", "my-tool", True),
        ("Edit.*", "NotebookEdit", True),
        ("^Edit", "NotebookEdit", False),
        ("mcp__memory", "mcp__memory__save", False),
        ("mcp__memory__.*", "mcp__memory__save", True),
        ("mcp__.*__write.*", "mcp__files__write_all", True),
        ("(?<kind>Ba)sh", "Bash", True),
        ("bash", "Bash", False),
    ],
)
def test_a_matcher_is_names_or_an_unanchored_pattern(matcher: str | None, name: str, taken: bool) -> None:
    assert Matcher.parse(matcher, "PreToolUse").takes(name) is taken


@pytest.mark.parametrize("matcher", ["(", "Edit[", 7, ["Bash"]])
def test_a_matcher_that_is_neither_is_refused_by_its_text(matcher: object) -> None:
    with pytest.raises(MatcherError, match=re.escape(repr(matcher))):
        Matcher.parse(matcher, "PreToolUse")


def test_a_permission_rule_that_is_no_pattern_is_named_as_one() -> None:
    with pytest.raises(MatcherError, match="a permission rule belongs into the hook's"):
        Matcher.parse("Edit(src/**)", "PreToolUse")


def test_a_matcher_at_an_event_without_a_subject_is_passed_over() -> None:
    assert Matcher.parse("(", "Stop").takes("")


def test_files_are_matched_by_their_literal_names() -> None:
    matcher = Matcher.parse(".env|a.b*", "FileChanged")
    assert matcher.takes(".env")
    assert matcher.takes("a.b*")
    assert not matcher.takes("xenv")


def test_a_list_with_hyphens_is_a_pattern_for_the_kinds_of_failure() -> None:
    assert Matcher.parse("rate_limit|overloaded", "StopFailure").takes("overloaded")
    assert not Matcher.parse("rate-limit", "StopFailure").takes("rate_limit")
