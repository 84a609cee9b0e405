from __future__ import annotations

from typing import Any

import pytest

from toolpost import (
    Block,
    MessageStart,
    Stop,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolUse,
    ToolUseStart,
)
from toolpost_frontend_headless.wire import WireStream

START = MessageStart("msg_1", "model-1")


def events_of(*events: StreamEvent) -> list[dict[str, Any]]:
    stream = WireStream("model-1")
    return [raw for event in events for raw in stream.feed(event)]


def test_a_signature_follows_the_thinking_it_signs() -> None:
    block = {"type": "thinking", "thinking": "Hmm", "signature": "sig"}
    events = events_of(START, ThinkingDelta("Hmm"), Block(block), TextDelta("So"), Stop("end_turn"))
    deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    assert deltas == [
        {"type": "thinking_delta", "thinking": "Hmm"},
        {"type": "signature_delta", "signature": "sig"},
        {"type": "text_delta", "text": "So"},
    ]


def test_a_block_without_deltas_is_shown_whole() -> None:
    events = events_of(START, Block({"type": "text", "text": "At once"}), Stop("end_turn"))
    assert [event["type"] for event in events] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert events[2]["delta"] == {"type": "text_delta", "text": "At once"}


def test_a_block_of_an_unknown_type_starts_with_all_it_has() -> None:
    block = {"type": "redacted_thinking", "data": "xyz"}
    events = events_of(START, Block(block), Stop("end_turn"))
    assert events[1] == {"type": "content_block_start", "index": 0, "content_block": block}
    assert events[2]["type"] == "content_block_stop"


def test_a_call_without_input_deltas_has_its_input_as_one() -> None:
    events = events_of(START, ToolUseStart("t1", "Bash"), ToolUse("t1", "Bash", {"command": "ls"}), Stop("tool_use"))
    assert events[2]["delta"] == {"type": "input_json_delta", "partial_json": '{"command": "ls"}'}


def test_input_that_is_no_object_is_shown_as_the_model_wrote_it() -> None:
    events = events_of(START, ToolUse("t1", "Bash", {}, raw='{"command": '), Stop("tool_use"))
    assert events[2]["delta"]["partial_json"] == '{"command": '


@pytest.mark.parametrize(
    "events",
    [
        (TextDelta("no start"), Stop("end_turn")),
        (START, TextDelta("cut"), START, TextDelta("again"), Stop("end_turn")),
        (Stop("end_turn"),),
        (START, ThinkingDelta("a"), TextDelta("b"), ToolUseStart("t1", "Bash"), TextDelta("c"), Stop("end_turn")),
    ],
    ids=["without a start", "broken off", "empty", "blocks never ended"],
)
def test_starts_and_stops_are_always_paired(events: tuple[StreamEvent, ...]) -> None:
    names = [event["type"] for event in events_of(*events)]
    assert names.count("message_start") == names.count("message_stop")
    assert names.count("content_block_start") == names.count("content_block_stop")
    assert (names[0], names[-1]) == ("message_start", "message_stop")
