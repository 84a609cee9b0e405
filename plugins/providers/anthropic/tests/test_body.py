from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from toolpost import Message, ModelRequest, ProviderError, SystemBlock, ToolSpec
from toolpost_provider_anthropic.body import Encoder
from toolpost_provider_anthropic.models import find

MARK = {"type": "ephemeral"}
SONNET = find("sonnet")


def body(encoder: Encoder | None = None, **fields: Any) -> Any:
    request = ModelRequest(**{"model": SONNET.info.id, "messages": [{"role": "user", "content": "Hi"}], **fields})
    return json.loads((encoder or Encoder()).body(request, SONNET))


def conversation(turns: int) -> list[Message]:
    messages: list[Message] = [{"role": "user", "content": "Go on"}]
    for turn in range(turns):
        call: Any = {"type": "tool_use", "id": f"t{turn}", "name": "Bash", "input": {"command": "true"}}
        result: Any = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": "é" * 10}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return messages


def test_marks_are_put_on_the_way_out_and_the_messages_stay_as_they_are() -> None:
    messages = conversation(2)
    before = copy.deepcopy(messages)
    sent = body(messages=messages, cache_breakpoints=(0, 4))["messages"]
    assert messages == before
    assert sent[0]["content"] == [{"type": "text", "text": "Go on", "cache_control": MARK}]
    assert sent[4]["content"][-1]["cache_control"] == MARK
    assert sent[1:4] == before[1:4]


def test_the_prefix_of_a_later_request_has_the_same_bytes() -> None:
    encoder, messages = Encoder(), conversation(3)
    first = encoder.body(ModelRequest(model=SONNET.info.id, messages=messages[:3]), SONNET)
    later = encoder.body(ModelRequest(model=SONNET.info.id, messages=messages), SONNET)
    assert later.startswith(first[:-2])


def test_a_message_is_encoded_once_and_again_where_another_takes_its_place() -> None:
    encoder = Encoder()
    for number in range(300):
        messages: list[Message] = [{"role": "user", "content": str(number)}]
        assert body(encoder, messages=messages)["messages"] == messages


def test_thinking_and_empty_text_carry_no_mark() -> None:
    thinking: Any = {"type": "thinking", "thinking": "x", "signature": "s"}
    text: Any = {"type": "text", "text": "y"}
    empty: Any = {"type": "text", "text": ""}
    (marked,) = body(messages=[{"role": "assistant", "content": [text, thinking, empty]}], cache_breakpoints=(0,))[
        "messages"
    ]
    assert marked["content"] == [{**text, "cache_control": MARK}, thinking, empty]
    (bare,) = body(messages=[{"role": "assistant", "content": [thinking]}], cache_breakpoints=(0,))["messages"]
    assert bare["content"] == [thinking]


def test_system_and_tools_carry_their_marks_and_no_more_than_four_are_sent() -> None:
    sent = body(
        messages=conversation(3),
        system=(SystemBlock("A", cache=True), SystemBlock(""), SystemBlock("B", cache=True)),
        tools=(ToolSpec("Bash", "Runs", {"type": "object"}, cache=True),),
        cache_breakpoints=(0, 2, 4, 99),
    )
    assert sent["system"] == [
        {"type": "text", "text": "A", "cache_control": MARK},
        {"type": "text", "text": "B", "cache_control": MARK},
    ]
    assert sent["tools"] == [
        {"name": "Bash", "description": "Runs", "input_schema": {"type": "object"}, "cache_control": MARK}
    ]
    assert [index for index, message in enumerate(sent["messages"]) if "cache_control" in str(message)] == [4]


def test_the_limit_of_an_answer_is_the_models_unless_it_is_given() -> None:
    assert body()["max_tokens"] == 32_000
    assert body(max_tokens=5)["max_tokens"] == 5


def test_an_answer_in_one_piece_is_asked_for_with_a_limit_that_ten_minutes_suffice_for() -> None:
    sent = body(streaming=False, max_tokens=64_000)
    assert (sent["stream"], sent["max_tokens"]) == (False, 21_000)


def test_half_a_surrogate_pair_is_replaced_and_what_json_lacks_is_refused() -> None:
    assert body(messages=[{"role": "user", "content": "a\ud83d"}])["messages"][0]["content"] == "a?"
    with pytest.raises(ProviderError, match="can't be written as JSON"):
        body(messages=[{"role": "user", "content": [{"type": "x", "y": float("nan")}]}])
