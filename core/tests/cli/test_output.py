from __future__ import annotations

from toolpost_core.cli.output import table_lines

ROWS = [("permission_resolvers", "a-very-long-name-of-a-plugin", "refused", "it was made for another version, " * 3)]


def test_a_table_is_folded_to_the_terminals_width_and_loses_nothing() -> None:
    lines = list(table_lines(("KIND", "NAME", "STATE", "WHY"), ROWS, 80))
    assert all(len(line) <= 80 for line in lines)
    folded = "".join("".join(lines[1:]).split())
    assert all(letter in folded for cell in ROWS[0] for letter in cell.replace(" ", ""))
    assert sum(line.count("version,") for line in lines) == 3


def test_in_a_pipe_each_row_is_one_line() -> None:
    assert len(list(table_lines(("KIND", "NAME", "STATE", "WHY"), ROWS, None))) == 2


def test_a_table_that_fits_is_left_as_it_is() -> None:
    assert list(table_lines(("A", "B"), [("1", "two words")], 80)) == ["A  B", "1  two words"]
