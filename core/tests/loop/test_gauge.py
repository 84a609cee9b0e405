"""What a request has, and how the estimate learns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpost import Message, ModelRequest, SystemBlock, tokens_in_text, tokens_of
from toolpost_core.loop.gauge import Gauge


def said(text: str, role: str = "user") -> Message:
    return {"role": role, "content": [{"type": "text", "text": text}]}  # type: ignore[typeddict-item]


def request(*messages: Message) -> ModelRequest:
    return ModelRequest(model="m", messages=messages, system=(SystemBlock("s" * 4_000),))


def test_bytes_count_four_to_a_token_and_json_two() -> None:
    assert tokens_in_text("a" * 400) == 100
    assert tokens_in_text("é" * 200) == 100
    assert tokens_in_text('{"a": ' + "1" * 393 + "}") == 200


def test_media_count_2000_whatever_their_bytes() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 9_000}}
    assert tokens_of([{"role": "user", "content": [image, {"type": "document", "source": {}}]}]) == 4_000


def test_a_long_text_in_an_input_counts_as_a_text() -> None:
    use = {"type": "tool_use", "id": "t", "name": "Write", "input": {"content": "word " * 800}}
    assert tokens_of([{"role": "assistant", "content": [use]}]) == pytest.approx(1_000, abs=20)


def test_before_any_report_all_is_estimated() -> None:
    gauge = Gauge()
    gauge.asked(request(said("a" * 4_000)), 0)
    assert gauge.overhead == 1_000
    assert gauge.used([said("a" * 4_000)], 0) == 2_000


def test_the_estimate_follows_what_the_service_reports() -> None:
    gauge, messages, reported, errors = Gauge(), [said("a" * 4_000)], 0, []
    for turn in range(5):
        gauge.asked(request(*messages), reported)
        prompt = 1_000 + round(tokens_of(messages) * 1.3)
        gauge.answered(prompt)
        assert gauge.error is not None
        errors.append(abs(gauge.error))
        messages = [*messages, said("b" * 40, "assistant"), said(f"{turn}" * 4_000)]
        reported = prompt + 13
    assert errors[0] > 0.1
    assert max(errors[3:]) < 0.02
    assert gauge.scale == pytest.approx(1.3, abs=0.05)


def test_a_report_that_can_not_be_bends_the_scale_only_so_far() -> None:
    gauge = Gauge()
    gauge.asked(request(said("a" * 4_000)), 0)
    gauge.answered(500_000)
    assert gauge.scale == 2.5


def test_what_stays_after_a_change_counts_as_the_service_counted_it() -> None:
    gauge, first, answer = Gauge(overhead=1_000), said("a" * 4_000), said("b" * 4_000, "assistant")
    assert gauge.scale_of([first, answer], 5_000) == 2.0
    assert gauge.changed([first, answer], [said("short"), answer], 2.0) == pytest.approx(3_002, abs=1)


def test_each_message_is_estimated_once_however_many_requests_it_is_sent_with(monkeypatch: pytest.MonkeyPatch) -> None:
    estimated: list[int] = []

    def counting(messages: Sequence[Message]) -> int:
        estimated.append(len(messages))
        return tokens_of(messages)

    monkeypatch.setattr("toolpost_core.loop.gauge.tokens_of", counting)
    gauge, messages = Gauge(), list[Message]()
    for turn in range(100):
        messages = [*messages, said(f"{turn}" * 40), said("b" * 40, "assistant")]
        gauge.scale_of(messages, 1_000)

    assert sum(estimated) == len(messages)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("say"), st.text(max_size=40)),
            st.tuples(st.just("back"), st.integers(0, 5)),
            st.tuples(st.just("change"), st.integers(0, 9)),
        ),
        max_size=30,
    )
)
def test_the_scale_is_that_of_the_messages_at_hand_whatever_was_estimated_before(steps: list[tuple[str, Any]]) -> None:
    used, messages = Gauge(), list[Message]()
    for step, how in steps:
        match step:
            case "say":
                messages = [*messages, said(how), said(how * 3, "assistant")]
            case "back":
                messages = messages[: len(messages) - how] if how else messages
            case "change" if how < len(messages):
                messages = [*messages[:how], said("changed"), *messages[how + 1 :]]
        assert used.scale_of(messages, 10_000) == Gauge().scale_of(messages, 10_000)
