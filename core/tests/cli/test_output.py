from __future__ import annotations

import fcntl
import json
import os
import re
import struct
import termios
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from typing import TypeAlias

import pytest

from toolpost_core.cli.output import print_facts, print_line, print_table, table_lines

HEAD = ("KIND", "NAME", "STATE", "WHY")
ROWS = [("permission_resolvers", "a-very-long-name-of-a-plugin", "refused", "it was made for another version, " * 3)]
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


Shown: TypeAlias = Callable[[Callable[[], None], int], str]


@pytest.fixture
def in_terminal(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """Return what a call prints in a real terminal of some columns."""

    def shown(call: Callable[[], None], columns: int) -> str:
        above, below = os.openpty()
        fcntl.ioctl(below, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        with closing(os.fdopen(below, "w", encoding="utf-8")) as screen, monkeypatch.context() as patch:
            patch.delenv("COLUMNS", raising=False)
            patch.setenv("TERM", "xterm-256color")
            patch.delenv("NO_COLOR", raising=False)
            patch.setattr("sys.stdout", screen)
            call()
            screen.flush()
            printed = os.read(above, 1_000_000).decode()
        os.close(above)
        return printed.replace("\r\n", "\n")

    return shown


@pytest.mark.parametrize("columns", [40, 80])
def test_in_a_terminal_a_table_is_folded_to_its_width_and_loses_nothing(in_terminal: Shown, columns: int) -> None:
    printed = in_terminal(lambda: print_table(HEAD, ROWS, ""), columns)
    lines = ESCAPE.sub("", printed).splitlines()
    assert "\x1b[1m" in printed
    assert all(len(line) <= columns for line in lines)
    cells = _columns(lines)
    for cell in ROWS[0]:
        assert cell.replace(" ", "") in cells


def test_a_terminal_that_does_not_tell_its_width_gets_80_columns(in_terminal: Shown) -> None:
    assert in_terminal(lambda: print_table(HEAD, ROWS, ""), 0) == in_terminal(lambda: print_table(HEAD, ROWS, ""), 80)


def test_in_a_terminal_facts_stand_in_two_columns(in_terminal: Shown) -> None:
    facts = [("needs:", "reads files " * 10), ("implements", "stop")]
    lines = ESCAPE.sub("", in_terminal(lambda: print_facts(facts, indent=2), 60)).splitlines()
    assert lines[0].startswith("  needs       reads files")
    assert all(line.startswith(" " * 14 + "reads") or line.startswith(" " * 14 + "files") for line in lines[1:-1])
    assert lines[-1].rstrip() == "  implements  stop"


def test_nothing_in_a_cell_is_taken_for_markup_or_moves_the_cursor(
    in_terminal: Shown,
) -> None:
    printed = in_terminal(lambda: print_table(("A",), [("[red]x[/red] \x1b[2J y",)], ""), 80)
    assert "[red]x[/red] [2J y" in printed


def test_in_a_pipe_each_row_is_one_plain_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("A", "B"), [("1", "two words"), ("longer", "x" * 200)], "")
    print_facts([("needs:", "reads files")], indent=2)
    assert capsys.readouterr().out == f"A       B\n1       two words\nlonger  {'x' * 200}\n  needs: reads files\n"


def test_a_table_of_nothing_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(HEAD, [], "No plugin is installed.")
    assert capsys.readouterr().out == "No plugin is installed.\n"


def test_the_lines_of_a_table_end_where_their_text_ends() -> None:
    assert list(table_lines(("A", "B"), [("1", "two words"), ("2", "")])) == ["A  B", "1  two words", "2"]


def _columns(lines: list[str]) -> str:
    """The texts of a table's columns, one below another and without spaces; the rule under the head says where they are."""
    rows = lines[2:]
    spaces = [
        at for at in range(max(map(len, lines))) if all(line[at : at + 1] in ("", " ") for line in (lines[0], *rows))
    ]
    edges = [-1, *spaces, max(map(len, lines))]
    parts = ["".join(line[left + 1 : right] for line in rows) for left, right in pairwise(edges)]
    return " ".join(part.replace(" ", "") for part in parts)


def test_an_object_is_one_line_to_whatever_takes_for_the_end_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"reason": "a\u2028b\u2029c\x85d\x0be"}
    print_line(value)
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line) == value
