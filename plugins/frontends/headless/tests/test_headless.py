from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from headless_doubles import SESSION, ScriptedDoor, ScriptedHost, result  # type: ignore[import-not-found]

from toolpost import LaunchOptions, Notice, ProviderError, Retrying, SettingsError, Streaming
from toolpost_frontend_headless import Headless

Capture = Any


def user_line(text: str) -> bytes:
    return json.dumps({"type": "user", "message": {"role": "user", "content": text}}).encode() + b"\n"


async def run(door: ScriptedDoor, refusal: Any = None, **options: Any) -> int:
    return await Headless().run(ScriptedHost(LaunchOptions(**options), door, refusal))


def json_lines(out: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


async def test_text_prints_the_final_text_only(capfdbinary: Capture) -> None:
    assert await run(ScriptedDoor([Notice("for your eyes", "warning"), result()]), prompt="go") == 0
    out, err = capfdbinary.readouterr()
    assert out == b"All done.\n"
    assert err == b"toolpost: warning: for your eyes\n"


async def test_json_prints_one_result_object(capfdbinary: Capture) -> None:
    assert await run(ScriptedDoor([result()]), prompt="go", output_format="json") == 0
    (line,) = json_lines(capfdbinary.readouterr().out)
    assert (line["type"], line["result"], line["session_id"]) == ("result", "All done.", SESSION)
    assert line["uuid"]


async def test_stream_json_opens_with_init_and_closes_with_the_result(capfdbinary: Capture) -> None:
    assert await run(ScriptedDoor([result()]), prompt="go", output_format="stream-json") == 0
    lines = json_lines(capfdbinary.readouterr().out)
    assert [(line["type"], line.get("subtype")) for line in lines] == [("system", "init"), ("result", "success")]
    assert all(line["uuid"] and line["session_id"] == SESSION for line in lines)


@pytest.mark.parametrize("output_format", ["text", "json", "stream-json"])
async def test_the_exit_code_agrees_with_an_error_result(output_format: str, capfdbinary: Capture) -> None:
    failed = result(subtype="error_max_turns", is_error=True, text="", errors=("Over 3 turns",))
    assert await run(ScriptedDoor([failed]), prompt="go", output_format=output_format) == 1
    out, err = capfdbinary.readouterr()
    if output_format == "text":
        assert (out, err) == (b"", b"toolpost: error: Over 3 turns\n")
    else:
        assert json_lines(out)[-1]["errors"] == ["Over 3 turns"]


async def test_what_helps_against_an_error_is_said_as_commands_of_a_shell(capfdbinary: Capture) -> None:
    full = result(subtype="error_during_execution", is_error=True, errors=("Full.",), remedies=("compact", "rewind"))
    assert await run(ScriptedDoor([full]), prompt="go", output_format="text") == 1
    assert (
        capfdbinary.readouterr().err == f"toolpost: error: Full. `toolpost compact {SESSION}` shortens it.\n".encode()
    )


@pytest.mark.parametrize(("output_format", "told"), [("text", True), ("json", True), ("stream-json", False)])
async def test_a_wait_for_the_next_try_is_told(output_format: str, told: bool, capfdbinary: Capture) -> None:
    wait = Streaming(Retrying(attempt=1, of=10, delay=2.0, error="No connection."))
    assert await run(ScriptedDoor([wait, result()]), prompt="go", output_format=output_format) == 0
    expected = b"toolpost: warning: No connection; retrying in 2 s (1/10)\n"
    assert capfdbinary.readouterr().err == (expected if told else b"")


async def test_what_the_model_said_before_an_interruption_is_not_shown_as_the_error(capfdbinary: Capture) -> None:
    ended = result(subtype="error_during_execution", is_error=True, text="I begin", terminal_reason="aborted_streaming")
    assert await run(ScriptedDoor([ended]), prompt="go") == 1
    out, err = capfdbinary.readouterr()
    assert (out, err) == (b"", b"toolpost: error: The run was interrupted while the model answered.\n")


@pytest.mark.parametrize(("refusal", "code"), [(ProviderError("No key"), 1), (SettingsError("Bad file"), 2)])
async def test_a_session_that_cannot_be_opened_still_has_one_result(
    refusal: Exception, code: int, capfdbinary: Capture
) -> None:
    assert await run(ScriptedDoor(), refusal, prompt="go", output_format="stream-json") == code
    out, err = capfdbinary.readouterr()
    (line,) = json_lines(out)
    assert (line["type"], line["is_error"], line["errors"]) == ("result", True, [str(refusal)])
    assert str(refusal).encode() in err


async def test_no_prompt_is_a_usage_error(capfdbinary: Capture) -> None:
    assert await run(ScriptedDoor()) == 2
    assert b"no prompt" in capfdbinary.readouterr().err


async def test_json_schema_is_refused_and_not_ignored(capfdbinary: Capture) -> None:
    door = ScriptedDoor([result()])
    assert await run(door, prompt="go", json_schema={"type": "object"}) == 2
    assert b"--json-schema is not supported yet" in capfdbinary.readouterr().err
    assert door.prompts == []


async def test_nobody_is_asked_for_permission() -> None:
    host = ScriptedHost(LaunchOptions(prompt="go"), ScriptedDoor([result()]))
    await Headless().run(host)
    assert host.asked == [None]


async def test_each_line_of_stream_json_input_is_a_prompt_until_eof(
    stdin: Callable[[bytes], None], capfdbinary: Capture
) -> None:
    door = ScriptedDoor([result()])
    stdin(b"\r\n" + user_line("one") + b"\n" + user_line("two").replace(b"\n", b"\r\n") + user_line("last")[:-1])
    stdin(b"")
    assert await run(door, input_format="stream-json", output_format="stream-json") == 0
    assert door.prompts == ["one", "two", "last"]
    kinds = [line["type"] for line in json_lines(capfdbinary.readouterr().out)]
    assert kinds == ["system", "result"] * 3


async def test_a_bad_line_is_reported_and_the_rest_is_used(
    stdin: Callable[[bytes], None], capfdbinary: Capture
) -> None:
    door = ScriptedDoor([result()])
    stdin(b"nonsense\n" + user_line("good"))
    stdin(b"")
    assert await run(door, input_format="stream-json", output_format="stream-json") == 0
    out, err = capfdbinary.readouterr()
    assert door.prompts == ["good"]
    assert b"Line 1 of standard input is left out: it is not JSON" in err
    reported = next(line for line in json_lines(out) if line.get("subtype") == "bad_input_line")
    assert (reported["line"], reported["session_id"]) == (1, SESSION)


async def test_an_unknown_control_request_gets_an_error_answer(
    stdin: Callable[[bytes], None], capfdbinary: Capture
) -> None:
    stdin(b'{"type":"control_request","request_id":"r1","request":{"subtype":"rewind"}}\n')
    stdin(b"")
    assert await run(ScriptedDoor(), input_format="stream-json", output_format="stream-json") == 0
    (line,) = json_lines(capfdbinary.readouterr().out)
    assert line["response"]["subtype"] == "error"
    assert line["response"]["request_id"] == "r1"
    assert "interrupt" in line["response"]["error"]


async def test_a_control_request_is_answered_while_a_turn_runs(
    stdin: Callable[[bytes], None], capfdbinary: Capture
) -> None:
    door = ScriptedDoor(hold=True)
    stdin(user_line("long work"))
    task = asyncio.create_task(run(door, input_format="stream-json", output_format="stream-json"))
    async with asyncio.timeout(10):
        await door.running.wait()
        stdin(
            b'{"type":"control_request","request_id":"r1","request":{"subtype":"set_permission_mode","mode":"plan"}}\n'
        )
        stdin(b'{"type":"control_request","request_id":"r2","request":{"subtype":"interrupt"}}\n')
        stdin(b"")
        assert await task == 1
    assert door.calls == [("set_permission_mode", "plan"), ("interrupt", "user_cancel")]
    lines = json_lines(capfdbinary.readouterr().out)
    answers = [line["response"]["request_id"] for line in lines if line["type"] == "control_response"]
    assert answers == ["r1", "r2"]
    assert lines[-1]["terminal_reason"] == "aborted_streaming"


async def test_a_line_with_priority_now_ends_the_turn_and_is_the_next(
    stdin: Callable[[bytes], None], capfdbinary: Capture
) -> None:
    door = ScriptedDoor([result()], hold=True)
    stdin(user_line("long work"))
    task = asyncio.create_task(run(door, input_format="stream-json", output_format="stream-json"))
    async with asyncio.timeout(10):
        await door.running.wait()
        door.hold = False
        stdin(user_line("instead")[:-2] + b',"priority":"now"}\n')
        stdin(b"")
        assert await task == 0
    assert door.prompts == ["long work", "instead"]
    assert door.calls == [("interrupt", "interrupt")]
    results = [line for line in json_lines(capfdbinary.readouterr().out) if line["type"] == "result"]
    assert [line["terminal_reason"] for line in results] == ["aborted_streaming", "completed"]


async def test_a_uuid_that_came_before_is_a_bad_line(stdin: Callable[[bytes], None], capfdbinary: Capture) -> None:
    door = ScriptedDoor([result()])
    line = user_line("one")[:-2] + b',"uuid":"11111111-0000-4000-8000-000000000000"}\n'
    stdin(line + line)
    stdin(b"")
    assert await run(door, input_format="stream-json", output_format="stream-json") == 0
    assert door.prompts == ["one"]
    assert b"Line 2 of standard input is left out: The session has a message 11111111" in capfdbinary.readouterr().err


async def test_a_session_that_wakes_has_a_turn_while_standard_input_is_open(
    stdin: Callable[[bytes], None], capfdbinary: Capture
) -> None:
    door = ScriptedDoor([result()])
    task = asyncio.create_task(run(door, input_format="stream-json", output_format="stream-json"))
    async with asyncio.timeout(10):
        door.enqueue("a task ended")  # as the session itself would
        while not door.prompts:  # noqa: ASYNC110 - there is no event for the end of a turn
            await asyncio.sleep(0.01)
        stdin(b"")
        assert await task == 0
    assert [line["type"] for line in json_lines(capfdbinary.readouterr().out)] == ["system", "result"]
