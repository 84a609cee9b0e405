from __future__ import annotations

import json
from typing import Any

import pytest
from headless_doubles import SESSION, result, started  # type: ignore[import-not-found]

from toolpost import (
    AssistantMessage,
    InputDelta,
    MessageStart,
    Notice,
    Retrying,
    SessionEvent,
    Stop,
    StreamEvent,
    Streaming,
    TextDelta,
    ToolProgressed,
    ToolUse,
    ToolUseStart,
    Usage,
    UserMessage,
)
from toolpost_frontend_headless.lines import StreamLines, encode

REQUIRED_IN_INIT = {
    "type", "subtype", "uuid", "session_id", "cwd", "tools", "mcp_servers", "model", "permissionMode",
    "slash_commands", "output_style", "skills", "plugins", "apiKeySource", "toolpost_version",
}  # fmt: skip
REQUIRED_IN_RESULT = {
    "type", "subtype", "uuid", "session_id", "is_error", "duration_ms", "duration_api_ms", "num_turns", "stop_reason",
    "total_cost_usd", "usage", "modelUsage", "permission_denials", "terminal_reason", "result",
}  # fmt: skip


def lines_of(*events: SessionEvent, partial: bool = False) -> list[dict[str, Any]]:
    lines = StreamLines("", "1.2.3", partial=partial)
    return [json.loads(encode(line)) for event in events for line in lines.of(event)]


def block(content: dict[str, Any], uuid: str) -> AssistantMessage:
    return AssistantMessage(
        message={"role": "assistant", "content": [content]},
        message_id="msg_1",
        model="model-1",
        uuid=uuid,
        usage=Usage(5, 1, cache_creation_input_tokens=7, cache_creation_1h_input_tokens=3),
    )


def test_init_has_every_field_that_programs_read() -> None:
    (init,) = lines_of(started())
    assert set(init) >= REQUIRED_IN_INIT
    assert (init["type"], init["subtype"], init["session_id"]) == ("system", "init", SESSION)
    assert (init["model"], init["permissionMode"], init["tools"]) == ("model-1", "default", ["Read", "Bash"])
    assert (init["apiKeySource"], init["toolpost_version"]) == ("ANTHROPIC_API_KEY", "1.2.3")


def test_blocks_of_one_answer_are_lines_of_their_own_that_share_the_message_id() -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}
    _, first, second = lines_of(started(), block({"type": "text", "text": "I look."}, "u1"), block(call, "u2"))
    assert first["message"]["id"] == second["message"]["id"] == "msg_1"
    assert (first["uuid"], second["uuid"]) == ("u1", "u2")
    assert second["message"]["content"] == [call]
    assert first["message"]["stop_reason"] is None
    assert first["parent_tool_use_id"] is None
    assert first["message"]["usage"]["cache_creation"] == {
        "ephemeral_5m_input_tokens": 4,
        "ephemeral_1h_input_tokens": 3,
    }


def test_a_tool_result_comes_as_a_user_line_with_its_structured_output() -> None:
    content = [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a.py", "is_error": False}]
    event = UserMessage(message={"role": "user", "content": content}, uuid="u3", tool_use_result={"stdout": "a.py"})  # type: ignore[typeddict-item]
    _, line = lines_of(started(), event)
    assert line["type"] == "user"
    assert line["message"] == {"role": "user", "content": content}
    assert line["tool_use_result"] == {"stdout": "a.py"}
    assert "isSynthetic" not in line


def test_text_that_core_put_in_is_marked_as_synthetic() -> None:
    event = UserMessage(message={"role": "user", "content": "go on"}, uuid="u4", synthetic=True)
    assert lines_of(event)[0]["isSynthetic"] is True


def test_a_result_has_every_field_that_programs_read() -> None:
    used = {"model-1": {"inputTokens": 10, "costUSD": 0.5}}
    _, line = lines_of(started(), result(duration=1.5, api_duration=1.25, cost_usd=0.5, model_usage=used))
    assert set(line) >= REQUIRED_IN_RESULT
    assert (line["duration_ms"], line["duration_api_ms"], line["total_cost_usd"]) == (1500, 1250, 0.5)
    assert line["modelUsage"] == used
    assert line["result"] == "All done."


def test_an_error_result_lists_its_errors_and_has_no_result() -> None:
    (line,) = lines_of(result(subtype="error_max_turns", is_error=True, text="", errors=("Over 3 turns",)))
    assert line["errors"] == ["Over 3 turns"]
    assert "result" not in line


def test_init_is_the_first_line_of_each_turn() -> None:
    early, late = Notice("It was compacted", kind="compact_boundary"), Notice("Late")
    bad = Notice("Line 2 is left out", "error", "bad_input_line")
    turn = [early, started(), late, result()]
    kinds = [line.get("subtype") for line in lines_of(*turn, bad, *turn)]
    one = ["init", "compact_boundary", "informational", "success"]
    assert kinds == [*one, "bad_input_line", *one]


def test_notices_of_a_turn_that_never_began_come_before_its_result() -> None:
    kinds = [line.get("subtype") for line in lines_of(Notice("No model"), result())]
    assert kinds == ["informational", "success"]


def test_an_interrupted_run_says_so_and_not_what_the_model_had_said() -> None:
    ended = result(subtype="error_during_execution", is_error=True, text="I was", terminal_reason="aborted_streaming")
    (line,) = lines_of(ended)
    assert line["errors"] == ["The run was interrupted while the model answered."]


def test_a_spent_budget_is_named_as_programs_know_it() -> None:
    (line,) = lines_of(result(subtype="error_max_budget_usd", is_error=True, terminal_reason="max_budget"))
    assert line["terminal_reason"] == "budget_exhausted"


def test_a_retry_is_shown_in_milliseconds() -> None:
    (line,) = lines_of(Streaming(Retrying(3, 10, 4.25, "overloaded", 529)))
    shown = {key: value for key, value in line.items() if key not in ("uuid", "session_id")}
    assert shown == {
        "type": "system",
        "subtype": "api_retry",
        "attempt": 3,
        "max_retries": 10,
        "retry_delay_ms": 4250,
        "error_status": 529,
        "error": "overloaded",
    }


def test_streaming_events_come_only_when_asked_for() -> None:
    events = [Streaming(MessageStart("msg_1", "model-1")), Streaming(TextDelta("Hi")), Streaming(Stop("end_turn"))]
    assert lines_of(*events) == []
    assert {line["type"] for line in lines_of(*events, partial=True)} == {"stream_event"}


def test_streaming_events_are_those_of_the_messages_api() -> None:
    answer: list[StreamEvent] = [
        MessageStart("msg_1", "model-1", Usage(5)),
        TextDelta("I "),
        TextDelta("look."),
        ToolUseStart("toolu_1", "Bash"),
        InputDelta('{"comm'),
        InputDelta('and":"ls"}'),
        ToolUse("toolu_1", "Bash", {"command": "ls"}),
        Stop("tool_use", Usage(5, 9)),
    ]
    events = [line["event"] for line in lines_of(*(Streaming(piece) for piece in answer), partial=True)]
    assert [event["type"] for event in events] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert [event["index"] for event in events if "index" in event] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert events[5]["content_block"] == {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}
    assert "".join(event["delta"]["partial_json"] for event in events[6:8]) == '{"command":"ls"}'
    assert events[9]["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}
    assert events[9]["usage"]["output_tokens"] == 9


def test_progress_is_shown_once_a_second_for_each_call() -> None:
    def at(seconds: float) -> ToolProgressed:
        return ToolProgressed(tool_use_id="toolu_1", tool_name="Bash", text="…", elapsed=seconds)

    shown = [line["elapsed_time_seconds"] for line in lines_of(*map(at, (0.5, 0.9, 1.4, 1.6, 2.0, 2.7)))]
    assert shown == [0.5, 1.6, 2.7]


def test_a_notice_is_a_system_line_of_its_kind() -> None:
    compacted = Notice("Compacted", kind="compact_boundary", data={"compact_metadata": {"trigger": "auto"}})
    _, line = lines_of(started(), compacted)
    assert (line["type"], line["subtype"]) == ("system", "compact_boundary")
    assert line["compact_metadata"] == {"trigger": "auto"}


@pytest.mark.parametrize(
    "text", ["line\u2028line", "half \ud83d", "\x85next", "wide 漢字 🙂"], ids=["separator", "surrogate", "nel", "wide"]
)
def test_every_line_is_one_line_whatever_the_text(text: str) -> None:
    line = encode({"type": "x", "text": text})
    assert len(line.decode().splitlines()) == 1
    assert json.loads(line)["text"] == text


def test_numbers_that_json_has_not_become_null() -> None:
    line = encode({"data": {"limit": float("inf"), ("odd", "key"): [float("nan"), 1.5]}})
    assert json.loads(line) == {"data": {"limit": None, "('odd', 'key')": [None, 1.5]}}
