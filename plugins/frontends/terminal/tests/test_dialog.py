from __future__ import annotations

from terminal_doubles import ALWAYS, question  # type: ignore[import-not-found]

from toolpost import Reply
from toolpost_frontend_terminal.asking import STOP, choices
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


def test_other_keys_answer_nothing() -> None:
    assert BOTH.letter("9") is BOTH
    assert BOTH.letter("0") is BOTH
    assert BOTH.letter("x") is BOTH
