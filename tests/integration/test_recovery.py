"""What the loop does when an answer goes wrong, against the Messages API over HTTP."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from fake_session import of_type, result_of, run
from mock_messages.sse import events as events_of
from mock_messages_api import (
    Gate,
    MockMessagesApi,
    Request,
    Step,
    Turn,
    block,
    cut,
    cut_after,
    error,
    pause,
    repeat,
    stream_error,
    thinking,
    tool_use,
    turn,
)
from served_session import following, opened, until

from toolpost import AssistantMessage, Notice, Retrying, Streaming, ToolFinished
from toolpost_core.loop import recover
from toolpost_core.loop.turn import PAUSES
from toolpost_core.transcripts.history import read

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)
"""A picture of one pixel."""


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider looks for its key in the environment of the process; waits before a retry are short."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "")
    monkeypatch.setattr(recover, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(recover, "LONGEST_BACK_OFF", 0.05)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = (tmp_path / "project").resolve()
    folder.mkdir()
    return folder


def bash(command: str, id: str = "t1") -> Any:
    return tool_use("Bash", {"command": command}, id=id)


def half_of(answer: Turn) -> Turn:
    """Return the answer cut in the middle of its last block."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    size = sum(len(event) for event in events_of(answer, 0, "m", usage) if isinstance(event, bytes))
    return cut_after(answer, size * 2 // 3)


def records(project: Path) -> list[dict[str, Any]]:
    (path,) = (project.parent / "state").glob("projects/*/*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def conversation(project: Path) -> list[Any]:
    (path,) = (project.parent / "state").glob("projects/*/*.jsonl")
    return list(read(path).messages)


# The output limit.


async def test_an_answer_that_was_cut_at_the_small_limit_is_asked_for_again_with_a_large_one(project: Path) -> None:
    script: list[Step] = [turn("Half of", stop_reason="max_tokens"), "Half of it and the rest."]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        events = await run(session)
        said = list(session.messages)

    assert [request.body["max_tokens"] for request in api.requests] == [8_000, 64_000]
    assert api.requests[0].body["messages"] == api.requests[1].body["messages"]
    assert (result_of(events).text, result_of(events).turns) == ("Half of it and the rest.", 1)
    assert [notice.level for notice in of_type(events, Notice)] == ["info"]
    first, second = of_type(events, AssistantMessage)
    assert list(second.supersedes) == [first.uuid]
    assert conversation(project) == said
    assert "Half of" in {record["message"]["content"][0]["text"] for record in records(project) if "message" in record}


@pytest.mark.requirement("loop.no_call_twice")
async def test_a_call_that_the_limit_cut_is_asked_for_again_and_runs_once(project: Path) -> None:
    half = tool_use("Bash", id="t1", raw_json='{"command": "echo made >>')
    script: list[Step] = [turn("So", half, stop_reason="max_tokens"), turn(bash("echo made >> log")), "Done."]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        events = await run(session)

    assert (project / "log").read_text() == "made\n"
    assert [finished.is_error for finished in of_type(events, ToolFinished)] == [False]
    assert len(api.requests[2].tool_results) == 1
    assert api.requests[2].body["max_tokens"] == 64_000, "a prompt that needed long answers once keeps the large limit"


@pytest.mark.requirement("loop.no_call_twice")
async def test_what_ran_before_the_cut_is_kept_and_does_not_run_again(project: Path) -> None:
    half = tool_use("Bash", id="t2", raw_json='{"command": "echo two')
    script: list[Step] = [turn(bash("echo one >> log"), half, stop_reason="max_tokens"), "Done."]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        await run(session)

    assert (project / "log").read_text() == "one\n"
    ran, broken = api.requests[1].tool_results
    assert not ran.get("is_error")
    assert "output limit" in str(broken["content"])


async def test_an_answer_that_large_limits_cut_too_is_gone_on_with_and_told_as_one(project: Path) -> None:
    script: list[Step] = [
        turn("one ", stop_reason="max_tokens"),
        turn("one two ", stop_reason="max_tokens"),
        turn("three ", stop_reason="max_tokens"),
        "four.",
    ]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        events = await run(session)

    assert result_of(events).text == "one two three four."
    assert (result_of(events).terminal_reason, result_of(events).turns) == ("completed", 1)
    assert [len(request.body["messages"]) for request in api.requests] == [1, 1, 3, 5]
    assert "where it stops" in str(api.requests[2].body["messages"][-1])


async def test_after_three_continuations_the_run_ends_and_says_so(project: Path) -> None:
    cut_short = turn("more ", stop_reason="max_tokens")
    async with MockMessagesApi([*repeat(cut_short, 5), "Next."]) as api, opened(api, project) as session:
        failed = result_of(await run(session))
        assert result_of(await run(session)).text == "Next."

    assert (failed.terminal_reason, failed.subtype, failed.is_error) == ("model_error", "error_during_execution", True)
    assert "64,000 tokens" in failed.errors[0]
    assert len(api.requests) == 6


async def test_who_sets_the_limit_gets_that_and_no_larger_one(project: Path) -> None:
    script: list[Step] = [turn("Half ", stop_reason="max_tokens"), "rest."]
    env = {"TOOLPOST_MAX_OUTPUT_TOKENS": "500"}
    async with MockMessagesApi(script) as api, opened(api, project, env=env) as session:
        assert result_of(await run(session)).text == "Half rest."

    assert [request.body["max_tokens"] for request in api.requests] == [500, 500]


# A prompt that is too long.


TOO_LONG = error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")


async def test_a_prompt_that_is_too_long_is_answered_after_the_conversation_was_shortened(project: Path) -> None:
    long = "Something was said. " * 2_000
    script: list[Step] = [long, long, long, TOO_LONG, "They talked.", "Answered."]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        for prompt in ("one", "two", "three"):
            await run(session, prompt)
        events = await run(session, "the fourth")

    assert (result_of(events).text, len(api.requests)) == ("Answered.", 6)
    assert "the fourth" in str(api.requests[5].body["messages"])
    assert len(api.requests[5].raw) < len(api.requests[3].raw)
    assert "too long" not in "".join(notice.text for notice in of_type(events, Notice))


async def test_a_prompt_that_stays_too_long_is_never_sent_twice_as_it_is(project: Path) -> None:
    async with MockMessagesApi([*repeat(TOO_LONG, 12)]) as api, opened(api, project) as session:
        result = result_of(await run(session))

    assert len({request.raw for request in api.requests}) == len(api.requests)
    assert result.terminal_reason == "prompt_too_long"
    assert "can't be shortened any further" in result.errors[0]


# A stream that broke off.


async def test_text_of_a_cut_stream_is_shown_once_and_kept_in_the_transcript(project: Path) -> None:
    script: list[Step] = [turn("A sentence that", pause(0.05), cut()), "A sentence that ends."]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        events = await run(session)
        said = list(session.messages)

    assert api.requests[0].body["messages"] == api.requests[1].body["messages"]
    assert (result_of(events).text, result_of(events).turns) == ("A sentence that ends.", 1)
    assert [e.event.attempt for e in of_type(events, Streaming) if isinstance(e.event, Retrying)] == [1]
    assert conversation(project) == said
    kept = [record for record in records(project) if record["type"] == "assistant"]
    (tombstone,) = (record for record in records(project) if record["type"] == "tombstone")
    assert tombstone["uuids"] == [kept[0]["uuid"]]
    assert kept[0]["message"]["content"][0]["text"] == "A sentence that"


@pytest.mark.requirement("loop.no_call_twice")
async def test_a_call_that_ran_before_the_cut_is_kept_with_its_result_and_never_runs_twice(project: Path) -> None:
    gate = Gate()
    script: list[Step] = [turn("First", bash("echo ran >> log"), pause(gate), "more", cut()), "Done."]
    async with MockMessagesApi(script) as api, opened(api, project) as session, following(session) as events:
        await until(lambda: of_type(events, ToolFinished))
        gate.open()

    assert (project / "log").read_text() == "ran\n"
    assert result_of(events).text == "Done."
    (result,) = api.requests[1].tool_results
    assert not result.get("is_error")
    assert [block["type"] for block in api.requests[1].body["messages"][1]["content"]] == ["text", "tool_use", "text"]


async def test_a_call_that_runs_at_the_cut_is_called_off_and_the_model_is_told(project: Path) -> None:
    gate = Gate()
    script: list[Step] = [turn(bash("echo begun >> log; sleep 600"), pause(gate), cut()), "Done."]
    async with MockMessagesApi(script) as api, opened(api, project) as session, following(session) as events:
        await until((project / "log").exists)
        gate.open()

    assert result_of(events).text == "Done."
    (result,) = api.requests[1].tool_results
    assert result["is_error"]
    assert "may have had effects" in str(result["content"])


async def test_a_call_that_was_not_complete_at_the_cut_never_was(project: Path) -> None:
    script: list[Step] = [half_of(turn("Now", bash("touch never"))), turn(bash("touch made")), "Done."]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        assert result_of(await run(session)).text == "Done."

    assert not (project / "never").exists()
    assert (project / "made").exists()
    assert len(api.requests[1].body["messages"]) == 1


async def test_a_stream_that_breaks_off_again_and_again_is_asked_for_as_a_whole(project: Path) -> None:
    broken = turn("Half", pause(0.02), cut())
    async with MockMessagesApi([*repeat(broken, 3), "All of it."]) as api, opened(api, project) as session:
        events = await run(session)

    assert [request.body["stream"] for request in api.requests] == [True, True, True, False]
    assert result_of(events).text == "All of it."
    retries = [e.event for e in of_type(events, Streaming) if isinstance(e.event, Retrying)]
    assert [(retry.attempt, retry.of) for retry in retries] == [(1, 3), (2, 3), (3, 3)]


async def test_where_nothing_helps_the_error_is_told_and_the_session_goes_on(project: Path) -> None:
    broken = turn("Half", pause(0.02), cut())
    whole = error(500, "api_error", "nothing works", {"x-should-retry": "false"})
    async with MockMessagesApi([*repeat(broken, 3), whole, "Back."]) as api, opened(api, project) as session:
        failed = result_of(await run(session, "first"))
        assert result_of(await run(session, "second")).text == "Back."

    assert (failed.terminal_reason, failed.is_error) == ("model_error", True)
    assert "nothing works" in failed.errors[0]
    assert len(api.requests) == 5


# An overloaded model.


def overloaded() -> Any:
    return error(529, "overloaded_error", "Overloaded", {"x-should-retry": "false"})


async def test_another_model_goes_on_where_the_first_is_overloaded_and_the_person_is_told(project: Path) -> None:
    script: list[Step] = [turn(thinking("hm", "c2ln"), bash("true")), overloaded(), "From the other.", "Again."]
    async with (
        MockMessagesApi(script) as api,
        opened(api, project, model="opus", fallback_model="haiku") as session,
    ):
        chosen = session.model.id
        events = await run(session)
        assert session.model.id == chosen, "the next prompt asks the chosen model again"
        await run(session)

    models = [request.body["model"] for request in api.requests]
    assert len(set(models[:2])) == 1
    assert models[2] != models[1] == models[3] == chosen
    assert result_of(events).text == "From the other."
    assert "thinking" in str(api.requests[1].body["messages"])
    assert "thinking" not in str(api.requests[2].body["messages"])
    assert [b["type"] for b in api.requests[2].body["messages"][1]["content"]] == ["tool_use"]
    (notice,) = (notice for notice in of_type(events, Notice) if notice.kind == "model_fallback")
    assert all(model in notice.text for model in models[1:3])
    (record,) = (record for record in records(project) if record["type"] == "model-fallback")
    assert (record["fromModel"], record["toModel"]) == (models[1], models[2])


async def test_a_chain_of_models_is_gone_through_and_then_the_run_ends(project: Path) -> None:
    script: list[Step] = [*repeat(overloaded(), 3)]
    settings = json.dumps({"fallbackModel": ["sonnet", "sonnet", "haiku"]})
    async with MockMessagesApi(script) as api, opened(api, project, model="opus", settings=settings) as session:
        failed = result_of(await run(session))

    assert len({request.body["model"] for request in api.requests}) == 3
    assert (failed.terminal_reason, "Overloaded" in failed.errors[0]) == ("model_error", True)


async def test_without_another_model_an_overload_is_an_error(project: Path) -> None:
    async with MockMessagesApi([overloaded()]) as api, opened(api, project) as session:
        assert result_of(await run(session)).terminal_reason == "model_error"
    assert len(api.requests) == 1


async def test_an_overload_in_the_middle_of_answers_leads_to_the_other_model(project: Path) -> None:
    broken = turn("Half", pause(0.02), stream_error("overloaded_error", "Overloaded"))
    script: list[Step] = [*repeat(broken, 3), "Whole."]
    async with MockMessagesApi(script) as api, opened(api, project, fallback_model="haiku") as session:
        assert result_of(await run(session)).text == "Whole."

    models = [request.body["model"] for request in api.requests]
    assert len(set(models[:3])) == 1
    assert models[3] != models[0]


async def test_an_overload_in_the_middle_of_answers_is_waited_out_where_no_other_model_is_named(project: Path) -> None:
    broken = turn("Half", pause(0.02), stream_error("overloaded_error", "Overloaded"))
    async with MockMessagesApi([*repeat(broken, 10), "Whole."]) as api, opened(api, project) as session:
        events = await run(session)

    assert result_of(events).text == "Whole."
    retries = [e.event for e in of_type(events, Streaming) if isinstance(e.event, Retrying)]
    assert [(retry.attempt, retry.of) for retry in retries] == [(number, 10) for number in range(1, 11)]
    waits = [retry.delay for retry in retries]
    most = [min(recover.FIRST_WAIT * 2**step, recover.LONGEST_BACK_OFF) for step in range(10)]
    assert all(0.75 * longest <= wait <= longest for wait, longest in zip(waits, most, strict=True))
    assert len({round(wait / longest, 6) for wait, longest in zip(waits, most, strict=True)}) > 1, "they are spread"


async def test_an_overload_that_does_not_pass_ends_the_run_and_loses_nothing(project: Path) -> None:
    broken = turn("Half", pause(0.02), stream_error("overloaded_error", "Overloaded"))
    ran = turn(bash("echo ran >> log"), pause(1.0), stream_error("overloaded_error", "Overloaded"))
    async with MockMessagesApi([ran, *repeat(broken, 10), "Back."]) as api, opened(api, project) as session:
        failed = result_of(await run(session))
        assert result_of(await run(session, "go on")).text == "Back."
        said = list(session.messages)

    assert (failed.terminal_reason, "Overloaded" in failed.errors[0]) == ("model_error", True)
    assert len(api.requests) == 12
    assert (project / "log").read_text() == "ran\n"
    assert conversation(project) == said


# A block that the service refuses.


async def test_a_refused_picture_is_replaced_by_words_once_and_for_all(project: Path) -> None:
    def refused(request: Request) -> Any:
        place = [block["type"] for block in request.body["messages"][0]["content"]].index("image")
        where = f"messages.0.content.{place}.image.source.base64.data"
        return error(400, "invalid_request_error", f"{where}: Could not process image")

    source = {"type": "base64", "media_type": "image/png", "data": b64encode(PNG).decode()}
    picture = {"type": "image", "source": source}
    script: list[Step] = [refused, "I see no picture.", "Nor now.", "Nor after a resume."]
    prompt: list[dict[str, Any]] = [{"type": "text", "text": "Look:"}, picture]
    async with MockMessagesApi(script) as api:
        async with opened(api, project) as session:
            events = [event async for event in session.submit(prompt)]
            await run(session, "and now?")
            id = session.id
        async with opened(api, project, resume=id) as session:
            await run(session, "and after a resume?")

    assert result_of(events).text == "I see no picture."
    sent = [json.dumps(request.body["messages"][0]) for request in api.requests]
    assert ['"type": "base64"' in message for message in sent] == [True, False, False, False]
    assert "An image stood here" in sent[1]
    assert sent[2] == sent[1]
    assert "An image stood here" in sent[3]


async def test_a_picture_that_a_tool_brought_is_replaced_in_its_result(project: Path) -> None:
    (project / "a.png").write_bytes(PNG)

    refusal = error(400, "invalid_request_error", "messages.2.content.0.tool_result: Could not process image")
    call = tool_use("Read", {"file_path": str(project / "a.png")}, id="t1")
    script: list[Step] = [turn(call), refusal, "No picture."]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        assert result_of(await run(session)).text == "No picture."

    assert "base64" in json.dumps(api.requests[1].tool_results)
    (result,) = api.requests[2].tool_results
    assert "An image stood here" in json.dumps(result)
    assert "base64" not in json.dumps(result)


async def test_several_pictures_of_a_resumed_session_that_are_refused_are_replaced_one_after_the_other(
    project: Path,
) -> None:
    def names_the_first(request: Request) -> Any:
        blocks = request.body["messages"][0]["content"]
        place = next((index for index, block in enumerate(blocks) if block["type"] == "image"), None)
        if place is None:
            return "No pictures."
        return error(400, "invalid_request_error", f"messages.0.content.{place}.image: Could not process image")

    source = {"type": "base64", "media_type": "image/png", "data": b64encode(PNG).decode()}
    prompt: list[dict[str, Any]] = [{"type": "text", "text": ""}, *[{"type": "image", "source": source}] * 3]
    async with MockMessagesApi(["I see three.", *[names_the_first] * 4]) as api:
        async with opened(api, project) as session:
            events = [event async for event in session.submit(prompt)]
            id = session.id
        async with opened(api, project, resume=id) as session:
            resumed = await run(session, "and after a resume, \ud83d?")

    assert result_of(events).text == "I see three."
    assert result_of(resumed).text == "No pictures."


async def test_a_picture_that_is_refused_all_the_same_ends_the_run(project: Path) -> None:
    refusal = error(400, "invalid_request_error", "Could not process image")
    async with MockMessagesApi([refusal]) as api, opened(api, project) as session:
        result = result_of(await run(session))

    assert result.terminal_reason == "image_error"
    assert len(api.requests) == 1, "there is no picture that could be taken out"


async def test_a_signature_that_the_service_refuses_costs_the_thoughts_only(project: Path) -> None:
    refusal = error(400, "invalid_request_error", "messages.1.content.0: Invalid `signature` in `thinking` block")
    script: list[Step] = [turn(thinking("hm"), bash("true")), refusal, "Done."]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        assert result_of(await run(session)).text == "Done."
        id = session.id

    assert "thinking" not in str(api.requests[2].body["messages"])

    async with MockMessagesApi(["Again."]) as api, opened(api, project, resume=id) as session:
        await run(session, "more")
    assert "thinking" not in str(api.requests[0].body["messages"])


# What else a model may answer.


async def test_a_refusal_of_the_model_is_an_error_that_says_what_to_do(project: Path) -> None:
    script: list[Step] = [turn("I will not", stop_reason="refusal"), "Better."]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        refused = result_of(await run(session, "first"))
        assert result_of(await run(session, "second")).text == "Better."

    assert (refused.terminal_reason, refused.stop_reason, refused.is_error) == ("model_error", "refusal", True)
    assert "refuses" in refused.errors[0]
    assert "I will not" not in str(api.requests[1].body["messages"])


async def test_a_target_of_tokens_keeps_the_model_going(project: Path) -> None:
    def spends(tokens: int) -> Any:
        return turn("Done.", usage={"output_tokens": tokens})

    script: list[Step] = [spends(4_000), spends(3_000), spends(2_500)]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        result = result_of(await run(session, "mend it +10k"))

    assert (result.terminal_reason, result.turns, len(api.requests)) == ("completed", 3, 3)
    assert "4,000 of the 10,000 tokens" in str(api.requests[1].body["messages"][-1])


async def test_server_tools_and_a_pause_go_back_as_they_came(project: Path) -> None:
    searched = {"type": "server_tool_use", "id": "srv1", "name": "web_search", "input": {"query": "é"}}
    found = {
        "type": "web_search_tool_result",
        "tool_use_id": "srv1",
        "content": [{"type": "web_search_result", "url": "u"}],
    }
    script: list[Step] = [turn(block(searched), stop_reason="pause_turn"), turn(block(found), "Found.")]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        assert result_of(await run(session)).text == "Found."
        said = list(session.messages)

    (sent,) = api.requests[1].body["messages"][-1]["content"]
    assert sent | {"cache_control": None} == searched | {"cache_control": None}
    assert said[-1]["content"] == [searched, found, {"type": "text", "text": "Found."}]


async def test_a_model_that_pauses_without_end_is_not_gone_on_with_for_ever(project: Path) -> None:
    paused = turn("Let me see.", stop_reason="pause_turn")
    script: list[Step] = [*repeat(paused, PAUSES + 1), turn(bash("true")), *repeat(paused, PAUSES), "Done."]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        failed = result_of(await run(session, "first"))
        assert len(api.requests) == PAUSES + 1
        went_on = result_of(await run(session, "second"))

    assert (failed.terminal_reason, failed.is_error) == ("model_error", True)
    assert f"{PAUSES} times in a row" in failed.errors[0]
    assert went_on.text == "Done.", "they are counted from the last call on"


async def test_a_pause_in_which_nothing_came_ends_the_turn(project: Path) -> None:
    async with MockMessagesApi([turn(stop_reason="pause_turn")]) as api, opened(api, project) as session:
        assert result_of(await run(session)).terminal_reason == "completed"
    assert len(api.requests) == 1, "the same request would get the same answer"


# A prompt that the service refuses.


def said_in(request: Request) -> str:
    return json.dumps(request.body["messages"])


@pytest.mark.parametrize("answer", ["error", "block", "image", "refusal"])
async def test_a_prompt_that_is_refused_is_not_sent_with_the_next_one_and_stays_in_the_transcript(
    project: Path, answer: str
) -> None:
    no: dict[str, Step] = {
        "error": error(400, "invalid_request_error", "no such thing"),
        "block": error(400, "invalid_request_error", "messages.9.content.0: no such thing"),
        "image": error(400, "invalid_request_error", "Could not process image"),
        "refusal": turn("I will not", stop_reason="refusal"),
    }
    async with MockMessagesApi(["One.", no[answer], "Three."]) as api, opened(api, project) as session:
        await run(session, "first")
        failed = result_of(await run(session, "poison"))
        assert result_of(await run(session, "third")).text == "Three."
        said = list(session.messages)
        prompts = [(prompt.text, prompt.rewound) for prompt in session.sent_prompts()]

    assert failed.is_error
    assert "taken out of the conversation" in failed.errors[0]
    assert "poison" not in said_in(api.requests[2])
    assert said_in(api.requests[1]).startswith(said_in(api.requests[0])[:-3]), "what was sent stays as it is"
    assert conversation(project) == said
    assert prompts == [("first", False), ("poison", True), ("third", False)]
    assert any("poison" in str(record.get("message")) for record in records(project))


async def test_what_came_with_a_refused_prompt_comes_with_the_next_one(project: Path) -> None:
    (project / "AGENTS.md").write_text("Always whistle.\n")
    refused = error(400, "invalid_request_error", "no such thing")
    async with MockMessagesApi([refused, "Two."]) as api, opened(api, project) as session:
        session.queue.put("The build has ended.")
        await run(session, "poison")
        await run(session, "second")

    for request in api.requests:
        assert said_in(request).count("The build has ended.") == 1
        assert "Always whistle." in json.dumps(request.body)
    assert "poison" not in said_in(api.requests[1])


async def test_results_that_are_refused_are_kept_and_the_error_says_that(project: Path) -> None:
    refused = error(400, "invalid_request_error", "no such thing")
    script: list[Step] = [turn(bash("echo ran >> log")), refused, "Two."]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        failed = result_of(await run(session, "first"))
        await run(session, "second")

    assert "stays in the conversation" in failed.errors[0]
    assert failed.remedies == ("rewind", "clear")
    assert len(api.requests[2].tool_results) == 1 or "tool_result" in said_in(api.requests[2])
    assert (project / "log").read_text() == "ran\n"


async def test_a_refused_prompt_of_a_session_that_ends_is_not_sent_after_a_resume(project: Path) -> None:
    refused = error(400, "invalid_request_error", "no such thing")
    async with MockMessagesApi(["One.", refused, "Three."]) as api:
        async with opened(api, project) as session:
            await run(session, "first")
            await run(session, "poison")
        async with opened(api, project, continue_last=True) as session:
            assert result_of(await run(session, "third")).text == "Three."
    assert "poison" not in said_in(api.requests[2])


async def test_a_prompt_that_is_too_long_is_not_sent_with_the_next_one(project: Path) -> None:
    def fits(request: Request) -> Any:
        too_long = error(400, "invalid_request_error", "prompt is too long: 300000 tokens > 200000 maximum")
        return too_long if "poison" in said_in(request) else turn("Fits.")

    async with MockMessagesApi([fits] * 6) as api, opened(api, project) as session:
        await run(session, "first")
        failed = result_of(await run(session, "poison " * 1000))
        assert result_of(await run(session, "third")).text == "Fits."

    assert failed.terminal_reason == "prompt_too_long"
    assert "taken out of the conversation" in failed.errors[0]
    assert failed.remedies == ("rewind", "clear")


async def test_a_prompt_that_is_not_sent_as_it_would_not_fit_is_taken_back(project: Path) -> None:
    off = json.dumps({"autoCompactEnabled": False})
    script: list[Step] = [turn("Long.", usage={"input_tokens": 979_000}), "Never sent."]
    async with MockMessagesApi(script) as api, opened(api, project, settings=off) as session:
        await run(session, "first")
        before = list(session.messages)
        failed = result_of(await run(session, "second"))
        assert list(session.messages) == before

    assert failed.terminal_reason == "blocking_limit"
    assert "taken out of the conversation" in failed.errors[0]
    assert conversation(project) == before
