"""Values come back as they were, whatever they hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolpost import (
    Block,
    EventEnd,
    ModelInfo,
    Notice,
    PermissionRequestOutcome,
    PreToolUseOutcome,
    Price,
    PromptTooLong,
    ProviderError,
    Reply,
    RuleUpdate,
    Stop,
    TextDelta,
    ToolProgressed,
    ToolUse,
    Usage,
)
from toolpost_service_recorder.values import decoded, decoded_error, encoded, encoded_error, plain

VALUES = [
    TextDelta("ä \ud800"),
    ToolUse("t1", "Read", {"$": "Path", "deep": [{"$": 1}]}, None),
    Block({"type": "thinking", "thinking": "hm", "signature": "c2ln"}),
    Stop("end_turn", Usage(1, 2, 3, 4)),
    ModelInfo(id="m", price=Price(input=1, output=2, cache_write=3, cache_read=4), efforts=("low", "max")),
    EventEnd(PreToolUseOutcome(decision="deny", reason="no", updated_input={"a": 1})),
    EventEnd(PermissionRequestOutcome(decision="allow"), "a hook failed"),
    Reply(allow=True, updates=(RuleUpdate(type="addRules", behavior="allow", destination="session"),)),
    ToolProgressed(tool_use_id="t", tool_name="Bash", text="1", elapsed=0.25, data={"path": Path("/a/b")}),
    Notice("text", "warning", data={"nested": {"x": (1, 2)}}),
    None,
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_is_the_same_after_it_was_written_and_read(value: Any) -> None:
    assert decoded(json.loads(json.dumps(encoded(value)))) == value


def test_an_error_of_the_service_is_the_same_after_it_was_written_and_read() -> None:
    error = ProviderError("too many", kind="rate_limit", status=429, retriable=True, retry_after=3.5)
    back = decoded_error(json.loads(json.dumps(encoded_error(error))))

    assert (str(back), vars(back)) == (str(error), vars(error))


def test_an_error_keeps_its_class() -> None:
    back = decoded_error(encoded_error(PromptTooLong("too long", tokens_over=7)))

    assert isinstance(back, PromptTooLong)
    assert back.tokens_over == 7


def test_any_other_error_becomes_the_text_that_a_session_makes_of_it() -> None:
    assert str(decoded_error(encoded_error(KeyError("x")))) == "The provider failed: KeyError: 'x'"


def test_a_class_that_there_is_no_more_stays_data() -> None:
    assert decoded({"$": "GoneSince", "field": [1]}) == {"field": [1]}


def test_data_of_a_tool_is_kept_as_front_ends_print_it() -> None:
    assert plain({"path": Path("/a"), "pair": (1, 2)}) == {"path": "/a", "pair": [1, 2]}
