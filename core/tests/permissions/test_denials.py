from __future__ import annotations

from pathlib import Path

from toolpost import Denials, PermissionRequest
from toolpost.testing import make_context
from toolpost_core.permissions.denials import DenialCounts, advice, notice


def request(folder: Path, tool: str = "Fetch") -> PermissionRequest:
    return PermissionRequest(tool_name=tool, tool_input={}, scope=make_context(folder).scope)


def test_the_model_is_told_from_the_third_refusal_in_a_row_on_and_the_person_once(tmp_path: Path) -> None:
    counts, asked = DenialCounts(), request(tmp_path)
    told = [counts.refused(asked) for _ in range(5)]

    assert [bool(advice(asked, count)) for count in told] == [False, False, True, True, True]
    assert [bool(notice(asked, count)) for count in told] == [False, False, True, False, False]
    assert "Fetch was refused 3 times in a row" in advice(asked, told[2])


def test_a_call_that_runs_ends_the_row_and_twenty_refusals_in_all_are_too_many_all_the_same(tmp_path: Path) -> None:
    counts, asked = DenialCounts(), request(tmp_path)
    for _ in range(19):
        assert not counts.refused(asked).too_many
        counts.passed(asked)
    assert counts.of(asked) == Denials(0, 19)

    assert counts.refused(asked).too_many
    counts.passed(asked)
    assert counts.of(asked) == Denials()


def test_kinds_are_counted_apart(tmp_path: Path) -> None:
    counts = DenialCounts()
    counts.refused(request(tmp_path))

    assert counts.of(request(tmp_path, "Write")) == Denials()
