"""What others see of a run whose answer went wrong: listeners, the budget, the person's target."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_session import fake_session, listen, of_type, result_of, run

from toolpost import (
    AssistantMessage,
    Block,
    ModelRequest,
    Notice,
    ProviderError,
    Stop,
    StreamEvent,
    Streaming,
    TextDelta,
    ToolUse,
    Usage,
    on,
    tool,
)
from toolpost.events.tool import PostToolBatch
from toolpost.events.turn import AfterModel, BeforeModel, BeforeModelOutcome, MessageDisplay, MessageDisplayOutcome
from toolpost.testing import FakeModel

CUT = ProviderError("cut", kind="connection", retriable=True, retry_after=0.0)


async def test_what_a_listener_shows_of_a_cut_answer_does_not_run_into_the_next(tmp_path: Path) -> None:
    def shout(event: MessageDisplay) -> MessageDisplayOutcome:
        return MessageDisplayOutcome(display_content=event.delta.upper())

    model = FakeModel(["half a li", CUT], "a whole line")
    async with fake_session(tmp_path, model, listen(on.message_display, shout)) as session:
        events = await run(session)

    deltas = [e.event.text for e in of_type(events, Streaming) if isinstance(e.event, TextDelta)]
    assert deltas == ["A WHOLE LINE"]
    assert of_type(events, AssistantMessage)[-1].message["content"] == [{"type": "text", "text": "A WHOLE LINE"}]


async def test_listeners_hear_of_the_calls_of_an_answer_that_broke_off_once(tmp_path: Path) -> None:
    began = asyncio.Event()

    @tool(read_only=True)
    async def begins() -> str:
        """Say that it began."""
        began.set()
        return "done"

    class Breaks(FakeModel):
        async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
            async for event in super().stream(request):
                yield event
                if isinstance(event, ToolUse):
                    await began.wait()
                    raise CUT

    batches: list[list[str]] = []

    def hear(event: PostToolBatch) -> None:
        batches.append([str(call["tool_name"]) for call in event.tool_calls])

    model = Breaks(["So", ToolUse("t1", "begins", {})], "Done.")
    async with fake_session(tmp_path, model, begins, listen(on.post_tool_batch, hear)) as session:
        result = result_of(await run(session))

    assert (result.text, result.turns, batches) == ("Done.", 2, [["begins"]])
    assert "done" in str(model.requests[1].messages[2])


async def test_each_answer_that_was_paid_for_is_told_of(tmp_path: Path) -> None:
    heard: list[int] = []

    def hear(event: AfterModel) -> None:
        heard.append(event.usage.output_tokens)

    used = Usage(input_tokens=10, output_tokens=100)
    model = FakeModel(["half", Stop("max_tokens", used)], ["whole", Stop("end_turn", used)])
    async with fake_session(tmp_path, model, listen(on.after_model, hear)) as session:
        result = result_of(await run(session))

    assert heard == [100, 100]
    assert result.usage.output_tokens == 200


async def test_a_limit_that_a_listener_sets_is_kept(tmp_path: Path) -> None:
    def short(event: BeforeModel) -> BeforeModelOutcome:
        return BeforeModelOutcome(request=replace(event.request, max_tokens=50))

    model = FakeModel(["one ", Stop("max_tokens")], "two")
    async with fake_session(tmp_path, model, listen(on.before_model, short)) as session:
        assert result_of(await run(session)).text == "one two"

    assert [request.max_tokens for request in model.requests] == [50, 50]


@pytest.mark.parametrize("stop_reason", ["max_tokens", "model_context_window_exceeded"])
async def test_an_answer_of_thoughts_alone_that_was_cut_is_gone_on_with(tmp_path: Path, stop_reason: str) -> None:
    cut: list[Any] = [Block({"type": "thinking", "thinking": "hm", "signature": "s"}), Stop(stop_reason)]
    async with fake_session(tmp_path, FakeModel(cut, cut, "At last.", "Next.")) as session:
        first = result_of(await run(session))
        second = result_of(await run(session))

    if stop_reason == "max_tokens":
        assert (first.text, second.text) == ("At last.", "Next.")
    else:  # there is nothing to shorten
        assert (first.terminal_reason, second.terminal_reason) == ("prompt_too_long", "prompt_too_long")


async def test_the_limit_of_turns_does_not_count_what_mends_an_answer(tmp_path: Path) -> None:
    model = FakeModel(["half", CUT], ["half", Stop("max_tokens")], "whole")
    async with fake_session(tmp_path, model, max_turns=1) as session:
        result = result_of(await run(session))

    assert (result.terminal_reason, result.turns, result.text) == ("completed", 1, "whole")


async def test_a_request_says_whether_another_model_is_there(tmp_path: Path) -> None:
    busy = ProviderError("busy", kind="overloaded")
    model = FakeModel(busy, busy, "Done.")
    async with fake_session(tmp_path, model, fallback_model="b, c") as session:
        events = await run(session)

    requests: list[ModelRequest] = model.requests
    assert [(request.model, request.has_fallback) for request in requests] == [
        ("fake-model", True),
        ("b", True),
        ("c", False),
    ]
    assert [notice.kind for notice in of_type(events, Notice)] == ["model_fallback"] * 2


async def test_a_target_of_tokens_is_given_up_where_nothing_more_comes(tmp_path: Path) -> None:
    answers: list[Any] = [["Done.", Stop("end_turn", Usage(output_tokens=tokens))] for tokens in (5_000, 20, 20, 20)]
    async with fake_session(tmp_path, FakeModel(*answers)) as session:
        result = result_of(await run(session, "+100k mend it"))

    assert (result.terminal_reason, result.turns) == ("completed", 4)


async def test_an_answer_without_text_is_told(tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel([Stop("end_turn")])) as session:
        events = await run(session)

    assert result_of(events).terminal_reason == "completed"
    assert ["no text" in notice.text for notice in of_type(events, Notice)] == [True]
