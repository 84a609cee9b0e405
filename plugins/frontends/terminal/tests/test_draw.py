from __future__ import annotations

import re
from typing import Any

import pytest
from terminal_doubles import ANSWER, question, result, tool_finished  # type: ignore[import-not-found]

from toolpost import Checklist, CostLine, Diff, Usage
from toolpost_frontend_terminal import asking, draw
from toolpost_frontend_terminal.console import Ansi
from toolpost_frontend_terminal.fit import fit, tail_lines


@pytest.fixture(autouse=True)
def _a_colour_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


def rows(*drawings: Any, columns: int = 60) -> list[str]:
    text = Ansi().text(drawings, columns)
    return re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()


def test_a_call_is_one_line_and_its_result_another() -> None:
    event = tool_finished("Bash", "ls -la", text="total 8\n", duration=2.34)
    assert rows(*draw.finished(event, first_line=None)) == ["● Bash(ls -la)  2.3 s", "  ⎿  total 8"]


@pytest.mark.parametrize("columns", [20, 40, 80])
def test_a_long_result_shows_its_first_line_and_its_last_ones_a_row_each(columns: int) -> None:
    told = "....\n" + "-" * 90 + "\n" * 30 + "Ran 4 tests in the blink of an eye, that is 0.000 s\n\nOK\n"
    drawn = rows(*draw.finished(tool_finished("Bash", "", text=told), first_line=None), columns=columns)
    assert drawn[:3] == ["● Bash", "  ⎿  ....", "     … +31 lines"]
    assert drawn[3].startswith("     Ran 4 tests"[:columns])
    assert drawn[4:] == ["     OK"]


def test_a_quick_call_does_not_say_how_long_it_took() -> None:
    assert rows(*draw.finished(tool_finished("Read", "a.py", text="x"), first_line=None))[0] == "● Read(a.py)"


def test_an_error_is_red_and_shows_more_than_its_first_line() -> None:
    event = tool_finished("Bash", "make", text="one\ntwo\nthree", is_error=True)
    assert rows(*draw.finished(event, first_line=None))[1:] == ["  ⎿  one", "     two", "     three"]
    assert "\x1b[31mone" in Ansi().text(draw.finished(event, first_line=None), 60)


@pytest.mark.parametrize("columns", [20, 37, 60, 200])
def test_nothing_is_wider_than_the_terminal(columns: int) -> None:
    from rich.cells import cell_len

    wide = "漢字かな" * 40
    drawn = rows(
        *draw.finished(tool_finished("Bash", wide, text=wide), first_line=None),
        *draw.finished(tool_finished("Bash", wide, text=wide, is_error=True), first_line=None),
        *draw.finished(tool_finished("Edit", "a", view=Diff("a", "x\n", wide)), first_line=7),
        *asking.drawings(question(tool_input={"command": wide}), None, None),
        draw.markdown(ANSWER + wide),
        columns=columns,
    )
    assert max(map(cell_len, drawn)) <= columns


def test_an_edit_shows_its_diff_with_the_numbers_of_the_file() -> None:
    event = tool_finished("Edit", "app.py", view=Diff("app.py", "a\nb\n", "a\nB\n"))
    assert rows(*draw.finished(event, first_line=40)) == [
        "● Edit(app.py)",
        "  ⎿  +1 −1",
        "       40   a",
        "       41 - b",
        "       41 + B",
    ]


def test_an_edit_whose_place_is_not_known_has_no_numbers() -> None:
    event = tool_finished("Edit", "app.py", view=Diff("app.py", "b\n", "B\n"))
    assert rows(*draw.finished(event, first_line=None))[-2:] == ["       - b", "       + B"]


def test_a_checklist_has_a_box_for_each_state() -> None:
    items = Checklist((("one", "completed"), ("two", "in_progress"), ("three", "pending")))
    assert rows(draw.checklist(items)) == ["☑ one", "▶ two", "☐ three"]


def test_a_question_shows_the_whole_input_and_what_would_hide_in_it() -> None:
    drawn = rows(*asking.drawings(question(tool_input={"command": "ls\x1b[8m; id\u202e"}), None, None))
    assert drawn == ["? Bash", "  command  ls<U+001B>[8m; id<U+202E>", "  no rule allows it"]


def test_a_question_leaves_nothing_out_of_a_command() -> None:
    hiding = "rm -rf x # \r ls" + "\n" * 100 + "id"
    drawn = rows(*asking.drawings(question(title=hiding, tool_input={"command": hiding}), None, None))
    assert drawn[0] == "? rm -rf x # <U+000D> ls id"
    assert drawn[1] == "  command  rm -rf x # <U+000D> ls"
    assert "           id" in drawn
    assert rows(draw.call("Bash", hiding)) == ["● Bash(rm -rf x # <U+000D> ls id)"]


def test_a_question_shows_all_of_a_change_and_what_would_hide_in_it() -> None:
    change = Diff("a.py", None, "".join(f"line {number}\n" for number in range(200)) + "x\u202e = 1\n")
    drawn = rows(*asking.drawings(question("Write", title="Write", details="Write a.py"), change, 1))
    assert [row.strip() for row in drawn[-3:-1]] == ["200 + line 199", "201 + x<U+202E> = 1"]
    assert drawn[-1] == "  Write a.py: no rule allows it", "the first line has left the screen"


def test_an_interrupted_run_and_an_error_are_told() -> None:
    assert draw.outcome(result()) is None
    assert rows(draw.outcome(result(is_error=True, terminal_reason="aborted_tools"))) == ["⏹ Interrupted"]
    failed = result(is_error=True, terminal_reason="model_error", text="No key")
    assert rows(draw.outcome(failed)) == ["✗ No key"]
    helped = result(is_error=True, errors=("Full.",), remedies=("compact", "clear", "of a later version"))
    assert rows(draw.outcome(helped)) == ["✗ Full. (/compact makes it shorter, /clear begins a new one)"]


def test_costs_say_where_a_price_is_not_known() -> None:
    lines = [
        CostLine(model="known", requests=2, usage=Usage(1200, 34), dollars=0.0123),
        CostLine(model="unknown", requests=1, usage=Usage(1, 1), dollars=None),
    ]
    assert draw.total(lines) == "$0.0123 + ?"
    assert rows(draw.costs(lines), columns=100)[-1].split() == ["all", "3", "$0.0123", "+", "?"]
    assert draw.dollars(12.345) == "$12.35"


@pytest.mark.parametrize("columns", [30, 40, 80, 120])
def test_costs_are_whole_at_any_width(columns: int) -> None:
    lines = [CostLine(model="claude-sonnet-4-5", requests=12, usage=Usage(1200, 34), dollars=0.0123)]
    drawn = " ".join(rows(draw.costs(lines), columns=columns)).split()
    for figure in ("claude-sonnet-4-5", "12", "1,200", "34", "$0.0123"):
        assert figure in drawn


def test_a_prompt_of_several_rows_is_indented() -> None:
    assert rows(draw.prompt("one two three\nfour"), columns=10) == ["› one two", "  three", "  four"]


def test_no_color_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text = Ansi().text(draw.finished(tool_finished("Bash", "x", text="no", is_error=True), first_line=None), 60)
    assert "\x1b[31m" not in text
    assert "\x1b[32m" not in text


def test_rows_have_no_blanks_at_their_end() -> None:
    text = Ansi().text([draw.markdown(ANSWER)], 60)
    assert all(not re.sub(r"\x1b\[[0-9;]*m", "", row).endswith(" ") for row in text.splitlines())


def test_a_long_line_is_cut_and_keeps_its_last_piece() -> None:
    line = [("", "● "), ("bold", "Bash"), ("", "(" + "漢" * 50 + ")"), ("dim", "  3 s")]
    cut = fit(line, 30)
    assert cut[-1] == ("dim", "  3 s")
    assert cut[-2] == ("", "…")


def test_the_tail_of_a_stream_is_its_last_rows() -> None:
    assert tail_lines("a\nb\nc\n", 20, 2) == ["b", "c"]
    assert tail_lines("x" * 45, 20, 5) == ["x" * 19, "x" * 19, "x" * 7]
    assert tail_lines(" \n", 20, 5) == []
    assert tail_lines("one two three four five", 11, 5) == ["one two", "three four", "five"]
    assert tail_lines("    indented " + "x" * 12, 11, 5) == ["    indent", "ed", "xxxxxxxxxx", "xx"]


def test_of_a_long_paste_the_beginning_and_the_end_are_shown_again() -> None:
    paste = "\n".join(f"line {number}" for number in range(10_000))
    drawn = rows(draw.prompt(f"{paste}\nwhy does this fail?"))
    assert len(drawn) == draw.MOST_PROMPT_LINES + 1
    assert drawn[0] == "› line 0"
    assert "  … +9,971 lines" in drawn
    assert drawn[-1] == "  why does this fail?"


def test_a_prompt_of_ordinary_length_is_shown_whole() -> None:
    lines = [f"line {number}" for number in range(draw.MOST_PROMPT_LINES + 1)]
    assert [row[2:] for row in rows(draw.prompt("\n".join(lines)))] == lines


def test_a_line_without_end_is_cut() -> None:
    drawn = "".join(row[2:] for row in rows(draw.prompt("x" * 100_000)))
    assert drawn.startswith("x" * draw.MOST_PROMPT_LINE + "…")
    assert drawn.endswith("98,000 characters")


def test_accepting_edits_is_said_in_words() -> None:
    assert asking.describe([{"type": "setMode", "destination": "session", "mode": "acceptEdits"}]) == (
        "all edits (acceptEdits mode) → this session"
    )
