from __future__ import annotations

import pytest
from terminal_doubles import ALWAYS, question  # type: ignore[import-not-found]

from toolpost import Reply
from toolpost_frontend_terminal import trusting
from toolpost_frontend_terminal.asking import STOP, Choice, choices
from toolpost_frontend_terminal.dialog import Dialog

BOTH = Dialog(choices(question(suggestions=(ALWAYS,))))
PLAIN = Dialog(choices(question()))


def labels(dialog: Dialog) -> list[str]:
    return [choice.label for choice in dialog.choices]


def test_always_shows_the_rule_that_would_be_written_and_where() -> None:
    assert labels(BOTH) == [
        "Yes",
        "Yes, always: Bash(make:*) → .toolpost/settings.local.json",
        "No, and say what to do instead",
    ]


def test_always_is_not_offered_where_nothing_can_be_granted() -> None:
    assert labels(PLAIN) == ["Yes", "No, and say what to do instead"]


def test_yes_allows_this_call_and_grants_nothing() -> None:
    assert BOTH.letter("1") == ("Yes", Reply(allow=True))
    assert BOTH.letter("y") == BOTH.pick(0)


def test_always_grants_what_it_showed() -> None:
    answer = BOTH.letter("2")
    assert isinstance(answer, tuple)
    assert answer[1] == Reply(allow=True, updates=(ALWAYS,))


def test_no_asks_why_and_the_model_gets_to_know() -> None:
    writing = BOTH.letter("3")
    assert isinstance(writing, Dialog)
    assert writing.writing
    assert writing.write(" use git clean ") == ("No: use git clean", Reply(allow=False, feedback="use git clean"))
    assert writing.write("") == ("No", Reply(allow=False))


def test_escape_leaves_the_writing_first_and_then_stops_the_turn() -> None:
    writing = BOTH.letter("n")
    assert isinstance(writing, Dialog)
    back = writing.back()
    assert isinstance(back, Dialog)
    assert not back.writing
    assert back.back() == ("No, stop", STOP)


def test_arrows_go_round() -> None:
    assert BOTH.move(-1).selected == 2
    assert BOTH.move(1).move(1).move(1).selected == 0
    assert BOTH.move(1).pick() == BOTH.letter("2")


def test_digits_without_a_choice_and_blanks_answer_nothing() -> None:
    assert BOTH.letter("9") is BOTH
    assert BOTH.letter("0") is BOTH
    assert BOTH.letter(" ") is BOTH


def test_who_types_a_text_says_what_to_do_instead() -> None:
    writing = BOTH.letter("u")
    assert isinstance(writing, Dialog)
    assert (writing.writing, writing.begun, writing.selected) == (True, "u", 2)
    assert writing.write("use make") == ("No: use make", Reply(allow=False, feedback="use make"))


def test_what_is_pasted_is_a_text_whatever_it_begins_with() -> None:
    for text in ("1", "y", "yes\nplease"):
        pasted = BOTH.paste(text)
        assert (pasted.writing, pasted.begun) == (True, " ".join(text.split()))
    assert BOTH.paste(" \n") is BOTH


def test_a_text_and_enter_answer_nothing_where_no_text_can_be_given() -> None:
    trust = Dialog(trusting.CHOICES)
    typed = trust
    for letter in "fix 1 typo":
        next = typed.letter(letter)
        assert isinstance(next, Dialog)
        typed = next
    assert typed.pick() == typed
    assert not typed.writing
    assert typed.move(1).move(1).pick() == trust.pick(0)
    assert typed.back() == trust.back()


@pytest.mark.parametrize("columns", [20, 40, 80])
def test_what_always_would_grant_is_shown_whole(columns: int) -> None:
    *rows, _ = ["".join(text for _, text in line) for line in BOTH.lines(columns, 30)]
    assert max(map(len, rows)) < columns
    shown = " ".join(row.strip() for row in rows)
    assert "Bash(make:*)" in shown
    assert ".toolpost/settings.local.json" in shown.replace(" ", "")


def test_a_label_without_end_leaves_room_for_the_other_answers() -> None:
    endless = Dialog((Choice("x" * 5000, Reply(allow=True)), Choice("No", STOP)))
    rows = ["".join(text for _, text in line) for line in endless.lines(80, 30)]
    assert len(rows) == 10 + 1 + 1
    assert rows[9].endswith("…")
    assert rows[10] == "    2. No"
