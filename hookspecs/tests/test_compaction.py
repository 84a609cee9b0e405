"""What strategies cut a conversation with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from toolpost import Context, Digest, Message, tokens_in_text, tokens_of, without_middle
from toolpost.testing import conversation
from toolpost.tokens import tokens_in_json


def said(*texts: str, role: str = "user") -> Message:
    return cast("Message", {"role": role, "content": [{"type": "text", "text": text} for text in texts]})


def answered(*texts: str) -> Message:
    """Return results, with texts that stand behind them."""
    result: Any = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
    return {"role": "user", "content": [result, *said(*texts)["content"]]}


def context(messages: Sequence[Message], **fields: Any) -> Context:
    return Context(messages=messages, **fields)


TALK = conversation(5, calls=1)
"""Each turn: a prompt, a call, its result, an answer."""


def test_the_last_turns_begin_with_a_prompt() -> None:
    assert list(context(TALK).last_turns(2)) == TALK[12:]
    assert list(context(TALK).last_turns(9)) == TALK


def test_a_cut_among_results_moves_before_their_calls() -> None:
    assert [context(TALK).cut_before(index) for index in range(4, 9)] == [4, 5, 5, 7, 8]
    assert context(TALK).cut_before(20) == 20


def test_the_newest_messages_that_fit_begin_where_a_cut_can_be() -> None:
    whole = tokens_of(TALK[16:])
    assert context(TALK).newest(whole) == 16
    assert context(TALK).newest(whole - 1) == 17
    assert context(TALK).newest(tokens_of(TALK[18:])) == 19  # not from the results on
    assert context(TALK).newest(0) == 20
    assert context(TALK, scale=2.0).newest(2 * whole) == 16


def test_a_prompt_that_is_not_answered_yet_stays_however_long_it_is() -> None:
    assert context([*TALK, said("why? " * 9_000)]).newest(10) == 20


def test_a_text_before_what_stays_is_a_message_or_part_of_the_prompt() -> None:
    given = context(TALK)
    assert given.begun_with("so far", 4) == [said("so far", "Prompt 1"), *TALK[5:]]
    assert given.begun_with("so far", 5) == [said("so far"), *TALK[5:]]
    assert given.begun_with("so far", 20) == [said("so far")]


def test_a_text_behind_what_stays_is_a_message_or_part_of_the_results() -> None:
    given = context(TALK)
    assert given.ended_with("so far", 4) == [*TALK[:4], said("so far")]
    assert given.ended_with("so far", 3)[2]["content"][-1] == {"type": "text", "text": "so far"}
    assert given.ended_with("so far", 0) == [said("so far")]


def test_a_result_says_what_stayed_and_what_went() -> None:
    given = context(TALK)
    made = given.result(given.begun_with("so far", 17), "so far")
    assert made is not None
    assert (list(made.kept), list(made.dropped)) == ([17, 18, 19], list(range(17)))
    assert made.tokens == given.tokens(made.messages)
    assert given.result(list(TALK)) is None


def test_words_and_files_outlive_a_second_digest() -> None:
    first = Digest.of([*TALK, said("and </said> too")], "They read.")
    again = Digest.of([said(first.text), *conversation(7, calls=1)[24:]], "They read on.")
    assert again.said == ("Prompt 0", "Prompt 1", "Prompt 2", "Prompt 3", "Prompt 4", "and <\\/said> too", "Prompt 6")
    assert again.files[0] == "/toolu_6_0.txt"
    assert set(first.files) < set(again.files)
    assert "They read on." in again.text
    assert "They read." not in again.text


def test_only_a_person_s_words_are_theirs() -> None:
    messages = [
        said("from a hook", "Count it."),
        answered("from a hook"),
        answered("Only the north."),
        said("a task ended"),
    ]
    prompts = ["Count it.", "Only the north."]
    assert context(messages, said=lambda: prompts).digest(messages).said == ("Count it.", "Only the north.")
    # Where the prompts are not known, the last text of a message is taken for one.
    assert context(messages).digest(messages).said == ("Count it.", "a task ended")


def test_where_not_all_words_fit_short_ones_stay_whole_and_long_ones_are_cut() -> None:
    rules = [f"Rule {number}: never do that." for number in range(10)]
    paste = "This is what I see:\n" + "INFO line of a log\n" * 2_000
    messages = [said(text) for rule in rules for text in (rule, f"{paste}\n\nSee {rule}\n\n{paste}")]
    kept = Digest.of(messages, said_tokens=4_000).said
    assert list(kept[::2]) == rules
    assert [f"See {rule}" in text for rule, text in zip(rules, kept[1::2], strict=True)] == [True] * 10
    assert 3_000 < sum(map(tokens_in_text, kept)) <= 4_000


def test_where_nothing_would_be_left_of_them_the_first_words_and_the_newest_stay() -> None:
    messages = [said(f"{number} " + "word " * 100) for number in range(100)]
    kept = Digest.of(messages, said_tokens=600).said
    assert [text.split()[0] for text in kept] == ["0", *(str(number) for number in range(91, 100))]
    assert sum(map(tokens_in_text, kept)) <= 600


def test_one_text_gets_no_more_than_a_quarter() -> None:
    (kept,) = Digest.of([said("Begin. " + "word " * 10_000 + "End.")], said_tokens=4_000).said
    assert tokens_in_text(kept) <= 1_000
    assert (kept[:6], kept[-4:]) == ("Begin.", "End.")


@pytest.mark.parametrize("text", ["word " * 9_000, "ü" * 9_000, '{"a": [' + "1, " * 9_000 + "1]}", "x" * 9_000])
@pytest.mark.parametrize("tokens", [1, 40, 1_000])
def test_a_text_without_its_middle_has_no_more_tokens_than_asked_for(text: str, tokens: int) -> None:
    cut = without_middle(text, tokens)
    assert tokens_in_text(cut) <= max(tokens, 20)  # a note of what is missing has some itself
    assert cut[0] in (text[0], "\n")
    assert without_middle("short", 100) == "short"


def test_a_value_counts_as_json_and_long_texts_in_it_as_texts() -> None:
    assert tokens_in_json({"a": [1, 2, 3]}) == pytest.approx(len('{"a":[1,2,3]}') / 2, abs=4)
    assert tokens_in_json({"text": "word " * 800}) == pytest.approx(1_000, abs=10)
