from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from terminal_doubles import ANSWER, assistant, result, text_events, tool_finished  # type: ignore[import-not-found]

from toolpost import (
    Diff,
    MessageStart,
    Notice,
    Retrying,
    SessionEvent,
    Streaming,
    TextDelta,
    ToolUseStart,
)
from toolpost_frontend_terminal.console import Ansi
from toolpost_frontend_terminal.narrate import Narrator, WholeLines
from toolpost_frontend_terminal.paragraphs import Paragraphs


def narrator() -> Narrator:
    return Narrator(Paragraphs(), lambda _: 1, markdown=True)


def told(events: Iterable[SessionEvent], by: Narrator | None = None) -> str:
    by = by or narrator()
    text = Ansi().text([drawing for event in (*events, result()) for drawing in by.tell(event)], 80)
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_streamed_text_is_said_once_and_whole() -> None:
    pieces = [Streaming(TextDelta(ANSWER[start : start + 5])) for start in range(0, len(ANSWER), 5)]
    said = told([Streaming(MessageStart("m", "model")), *pieces, assistant(ANSWER)])
    assert said.count("I looked at two files") == 1
    assert said.count("That is all.") == 1
    assert "**" not in said


def test_text_that_was_not_streamed_is_said_too() -> None:
    assert told([assistant("At once")]).strip() == "At once"


def test_text_stands_before_the_call_that_follows_it() -> None:
    events = [
        Streaming(MessageStart("m", "model")),
        Streaming(TextDelta("I look.")),
        Streaming(ToolUseStart("t1", "Bash")),
        assistant("I look."),
        tool_finished("Bash", "ls", text="a"),
    ]
    assert told(events).split("\n") == ["", "I look.", "", "● Bash(ls)", "  ⎿  a", ""]


def test_the_same_text_said_twice_is_said_twice() -> None:
    assert told([*text_events("Again."), *text_events("Again.")]).count("Again.") == 2


def broken_off(text: str) -> list[SessionEvent]:
    """An answer whose last paragraph is still on its way: what had come of it is a whole message."""
    return [Streaming(MessageStart("m", "model")), Streaming(TextDelta(text)), assistant(text)]


def test_the_end_of_an_answer_that_is_given_anew_is_not_said_twice() -> None:
    retry = Streaming(Retrying(1, 3, 0.5, "The connection broke off"))
    longer = Notice("It is written again.", "info", "answer_superseded")
    other = Notice("b goes on.", "warning", "model_fallback")
    for anew in (retry, longer, other):
        said = told([*broken_off("I looked at tw"), anew, *text_events("I looked at two files.")])
        assert said.count("I looked at tw") == 1


def test_paragraphs_that_stand_above_already_are_not_said_twice() -> None:
    retry = Streaming(Retrying(1, 3, 0.5, "The connection broke off"))
    first, again = broken_off("One.\n\nTwo.\n\nThr"), broken_off("One.\n\nTwo, or\n\nThr")
    said = told([*first, retry, *again, retry, *text_events("One.\n\nTwo, or\n\nThree.")])
    assert [said.count(text) for text in ("One.", "Two.", "Two, or", "Three.")] == [1, 1, 1, 1]


def test_what_the_model_says_again_after_a_call_is_said_although_the_request_was_retried() -> None:
    call = tool_finished("Bash", "ls", text="a")
    retry = Streaming(Retrying(1, 10, 0.5, "Overloaded"))
    assert told([*text_events("I look."), call, retry, *text_events("I look.")]).count("I look.") == 2


def test_the_end_of_an_answer_that_is_not_given_anew_stays() -> None:
    said = told([*broken_off("I looked at tw"), Notice("The provider gave up.", "error")])
    assert said.index("I looked at tw") < said.index("The provider gave up.")


def test_two_texts_of_an_answer_stand_apart() -> None:
    events = [*broken_off("One."), Streaming(TextDelta("Two.")), assistant("Two.")]
    assert told(events).split("\n") == ["", "One.", "", "Two.", ""]


def test_a_change_that_a_question_showed_is_not_drawn_again() -> None:
    by = narrator()
    by.seen(Diff("app.py", "a - b", "a + b"))
    event = tool_finished("Edit", "app.py", view=Diff("app.py", "x\na - b\n", "x\na + b\n"))
    assert "- a - b" not in told([event], by)
    assert "- a - b" in told([event], by), "it was asked about once only"


def test_a_retry_is_told_with_its_wait() -> None:
    said = told([Streaming(Retrying(3, 10, 4.0, "overloaded"))])
    assert said.strip() == "! overloaded; retrying in 4 s (3/10)"


def test_a_terminal_that_cannot_redraw_gets_whole_lines() -> None:
    by = Narrator(WholeLines(), lambda _: 1, markdown=False, spaced=False)
    pieces = [Streaming(TextDelta(text)) for text in ("**on", "e**\ntw", "o\n")]
    assert told(pieces, by) == "**one**\ntwo\n"


@pytest.mark.parametrize("size", [1, 2, 3, 50])
def test_lines_without_text_stay_where_they_are_however_the_text_streams(size: int) -> None:
    text = "\n\none\n\ntwo\n\n\nthree\nfour\n\n"
    by = Narrator(WholeLines(), lambda _: 1, markdown=False, spaced=False)
    pieces = [Streaming(TextDelta(text[at : at + size])) for at in range(0, len(text), size)]
    assert told(pieces, by) == text.strip("\n") + "\n"


def test_text_of_a_sub_agent_stays_out() -> None:
    from dataclasses import replace

    assert told([replace(assistant("inner"), parent_tool_use_id="t1")]) == ""


def test_a_notice_has_its_mark() -> None:
    assert told([Notice("The disk is nearly full", "warning")]).strip() == "! The disk is nearly full"
