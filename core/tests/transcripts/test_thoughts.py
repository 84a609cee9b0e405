"""Thoughts go back to the model that had them, and to no other."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from fake_session import fake_session, result_of, run

from toolpost import (
    Block,
    MessageStart,
    ModelInfo,
    ModelRequest,
    Provider,
    Stop,
    StreamEvent,
    TextDelta,
    ToolUse,
    Usage,
)
from toolpost_core.transcripts.kinds import THINKER
from toolpost_core.transcripts.thoughts import sent_on

THOUGHT: Any = {"type": "thinking", "thinking": "Hm", "signature": "c2ln"}


class Thinking(Provider):
    """Thinks before each answer, calls a tool in the first one of each prompt where `calls`, and keeps the requests."""

    default_model = "model-a"

    def __init__(self, *, calls: bool = False) -> None:
        self.calls = calls
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        self.requests.append(request)
        number = len(self.requests)
        yield MessageStart(f"msg_{id(self)}_{number}", request.model, Usage(10))
        yield Block({**THOUGHT, "signature": request.model})
        if self.calls and request.messages[-1]["content"][-1]["type"] == "text":  # type: ignore[index]
            yield ToolUse(f"t_{id(self)}_{number}", "unknown", {})
            yield Stop("tool_use")
        else:
            yield TextDelta("Said.")
            yield Stop("end_turn")

    def signatures(self, index: int = -1) -> list[str]:
        """Return whose thoughts a request has."""
        blocks: list[Any] = [block for message in self.requests[index].messages for block in message["content"]]
        return [block["signature"] for block in blocks if block["type"] == "thinking"]


async def test_thoughts_go_back_within_a_tool_loop_and_between_prompts(tmp_path: Path) -> None:
    model = Thinking(calls=True)
    async with fake_session(tmp_path, model) as session:
        await run(session)
        await run(session)
    assert [len(model.signatures(index)) for index in range(4)] == [0, 1, 2, 3]


async def test_another_model_is_sent_none_and_what_was_left_out_stays_left_out(tmp_path: Path) -> None:
    model = Thinking()
    async with fake_session(tmp_path, model) as session:
        await run(session)
        await session.set_model("model-b")
        await run(session)
        assert model.signatures() == []
        await run(session)
        assert model.signatures() == ["model-b"]
        path, before = session.transcript_path, model.requests[-1].messages
    assert path is not None

    again = Thinking()
    async with fake_session(tmp_path, again, resume=path) as session:
        assert session.model.id == "model-b"
        await run(session)
    assert again.signatures() == ["model-b", "model-b"]
    assert _bytes(again.requests[0])[: len(before)] == _bytes(model.requests[-1])


async def test_a_session_that_goes_on_with_another_model_leaves_out_what_the_first_one_thought(tmp_path: Path) -> None:
    async with fake_session(tmp_path, Thinking(calls=True)) as session:
        await run(session)
        path = session.transcript_path
    assert path is not None

    other = Thinking()
    async with fake_session(tmp_path, other, resume=path) as session:
        await session.set_model("model-b")
        assert result_of(await run(session)).text == "Said."
        assert other.signatures() == []
        await run(session)
        assert other.signatures() == ["model-b"]

    third = Thinking()
    async with fake_session(tmp_path, third, resume=path) as session:
        await run(session)
    assert third.signatures() == ["model-b", "model-b"]


async def test_a_model_that_the_service_calls_by_a_date_is_the_same(tmp_path: Path) -> None:
    class Dated(Thinking):
        async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
            async for event in super().stream(request):
                yield event._replace(model=f"{request.model}-20260101") if isinstance(event, MessageStart) else event

    async with fake_session(tmp_path, Dated()) as session:
        await run(session)
        path = session.transcript_path
    assert path is not None
    again = Dated()
    async with fake_session(tmp_path, again, resume=path) as session:
        await run(session)
    assert again.signatures() == ["model-a"]


async def test_limits_are_those_of_the_model_that_answers(tmp_path: Path) -> None:
    class Sized(Thinking):
        def model(self, name: str) -> ModelInfo:
            return ModelInfo(id=name, window=1_000_000 if name == "wide" else 200_000)

    async with fake_session(tmp_path, Sized()) as session:
        assert session.model.window == 200_000
        await run(session)
        assert (await session.set_model("wide")).window == 1_000_000
        result = result_of(await run(session))
    assert result.model_usage["wide"]["contextWindow"] == 1_000_000


@pytest.mark.parametrize("leaf", [None, "nowhere"])
def test_a_record_that_names_no_message_leaves_nothing_out(leaf: Any) -> None:
    told = [{"type": "assistant", "uuid": "1", "message": {"content": [THOUGHT]}}]
    assert sent_on(told, [*told, {"type": THINKER, "model": "b", "leafUuid": leaf}]) == told


def test_a_message_of_another_form_stays_as_it_is() -> None:
    told: list[Any] = [{"type": "user", "uuid": "1", "message": {"content": "text"}}, {"type": "user", "uuid": "2"}]
    assert sent_on(told, [*told, {"type": THINKER, "model": "b", "leafUuid": "2"}]) == told


def _bytes(request: ModelRequest) -> list[str]:
    return [json.dumps(message) for message in request.messages]
