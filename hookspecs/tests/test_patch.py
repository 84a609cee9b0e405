"""Structured patches: applied to the old text they give the new one, with the context that `diff -u` has."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolpost import Hunk, patch_of_changes, structured_patch
from toolpost.patch import CONTEXT, LINE_CHARS

TEXTS = st.text(alphabet="ab\n", max_size=60)


def lines(text: str) -> list[str]:
    found = text.replace("\r\n", "\n").split("\n")
    return found[:-1] if found[-1] == "" else found


def applied(old: Sequence[str], hunks: Sequence[Hunk]) -> list[str]:
    """Apply hunks as a program would, checking all that they say."""
    new: list[str] = []
    at = 0
    for hunk in hunks:
        start = hunk["oldStart"] - 1
        new += old[at:start]
        before = [line[1:] for line in hunk["lines"] if line[0] != "+"]
        after = [line[1:] for line in hunk["lines"] if line[0] != "-"]
        assert (len(before), len(after), len(new) + 1) == (hunk["oldLines"], hunk["newLines"], hunk["newStart"])
        assert old[start : start + len(before)] == before
        new += after
        at = start + len(before)
    return [*new, *old[at:]]


@given(before=TEXTS, after=TEXTS)
def test_a_patch_leads_from_one_text_to_the_other(before: str, after: str) -> None:
    hunks = structured_patch(before, after)

    assert applied(lines(before), hunks) == lines(after)
    assert (hunks == []) == (lines(before) == lines(after))


@settings(max_examples=500)
@given(text=TEXTS, cuts=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9), TEXTS), max_size=4))
def test_a_patch_of_changes_is_that_of_the_changed_text(text: str, cuts: list[tuple[int, int, str]]) -> None:
    changes, at = [], 0
    for gap, size, made in cuts:
        start = min(at + gap, len(text))
        at = min(start + size, len(text))
        changes.append((start, at, made))
    after = text
    for start, end, made in reversed(changes):
        after = after[:start] + made + after[end:]

    assert applied(lines(text), patch_of_changes(text, changes)) == lines(after)


def test_changes_far_apart_have_hunks_of_their_own_with_three_lines_round_them() -> None:
    before = [f"{number}\n" for number in range(1, 31)]
    after = before.copy()
    after[4], after[24] = "five\n", "x\ny\n"

    first, second = structured_patch("".join(before), "".join(after))

    assert first["lines"] == [" 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8"]
    assert second["lines"] == [" 22", " 23", " 24", "-25", "+x", "+y", " 26", " 27", " 28"]
    assert (second["oldStart"], second["newStart"], second["oldLines"], second["newLines"]) == (22, 22, 7, 8)
    assert CONTEXT == 3


@pytest.mark.parametrize("after", ["a\r\nb\r\n", "a\nb"])
def test_how_lines_end_is_no_difference(after: str) -> None:
    assert structured_patch("a\nb\n", after) == []


def test_a_long_line_is_cut_and_half_a_character_can_be_written() -> None:
    (hunk,) = structured_patch("", "x" * (LINE_CHARS + 5) + "\n\udcff\n")

    assert hunk["lines"] == ["+" + "x" * LINE_CHARS + "… [5 more characters]", "+\ufffd"]


def test_too_many_different_lines_are_one_hunk() -> None:
    before, after = "".join(f"{n}\n" for n in range(2_000)), "".join(f"x{n}\n" for n in range(2_000))

    (hunk,) = structured_patch(before, after)

    assert applied(lines(before), [hunk]) == lines(after)
