from __future__ import annotations

import os
from pathlib import Path

from toolpost import Diff
from toolpost_frontend_terminal.diff import count, diff_lines
from toolpost_frontend_terminal.locate import locator

LETTERS = [chr(ord("a") + number) for number in range(20)]
BEFORE = "\n".join(LETTERS) + "\n"


def shown(before: str | None, after: str) -> list[str]:
    return [f"{line.kind}{line.number}{line.text}" for line in diff_lines(Diff("f", before, after))]


def test_a_change_has_its_line_numbers_and_three_lines_around_it() -> None:
    assert shown(BEFORE, BEFORE.replace("j", "J")) == [
        " 7g", " 8h", " 9i", "-10j", "+10J", " 11k", " 12l", " 13m",
    ]  # fmt: skip


def test_lines_after_an_insertion_have_their_new_numbers() -> None:
    assert shown("a\nb\nc\n", "a\nnew\nb\nC\n") == [" 1a", "+2new", " 3b", "-3c", "+4C"]


def test_far_apart_changes_leave_out_what_is_between() -> None:
    lines = shown(BEFORE, BEFORE.replace("a", "A").replace("t", "T"))
    assert lines[:2] == ["-1a", "+1A"]
    assert "…012 unchanged lines" in lines
    assert lines[-2:] == ["-20t", "+20T"]


def test_a_new_file_is_all_added() -> None:
    assert shown(None, "a\nb") == ["+1a", "+2b"]


def test_a_huge_change_is_shown_without_being_matched_line_by_line() -> None:
    old, new = "\n".join(f"o{n}" for n in range(5000)), "\n".join(f"n{n}" for n in range(5000))
    assert count(diff_lines(Diff("f", old, new))) == (5000, 5000)


def test_a_change_is_found_in_its_file(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("one\ntwo\nthree\ntwo\n")
    locate = locator(lambda: tmp_path)
    assert locate(Diff("f.txt", "thre", "three")) == 3
    assert locate(Diff("f.txt", "one", "two")) == 1, "the new text is there twice, the old one once"
    assert locate(Diff("f.txt", "x", "two")) is None
    assert locate(Diff("gone.txt", "one", "two")) is None
    assert locate(Diff("gone.txt", None, "two")) == 1


def test_what_is_no_file_is_not_read_for_the_place_of_a_change(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert locator(lambda: tmp_path)(Diff("pipe", "a", "b")) is None
    assert locator(lambda: tmp_path)(Diff("/dev/zero", "a", "b")) is None
