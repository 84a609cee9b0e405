from __future__ import annotations

import json
from typing import Any

import pytest

from toolpost import Message, ModelRequest, PromptTooLong, Stop, StreamEvent
from toolpost_provider_anthropic import Anthropic

from .conftest import Answer, Serve, text_answer

NO_ROOM = (
    "input length and `max_tokens` exceed context limit: 188240 + 32000 > 200000, decrease input length or `max_tokens`"
)
NO_THOUGHT = "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`."


def refusal(message: str) -> Answer:
    body: dict[str, Any] = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    return Answer(json.dumps(body).encode(), 400, {"content-type": "application/json"})


def request(**fields: Any) -> ModelRequest:
    thought: Any = {"type": "thinking", "thinking": "Hm", "signature": "c2ln"}
    said: Any = {"type": "text", "text": "Hello"}
    messages: list[Message] = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [thought, said]},
        {"role": "user", "content": "Go on"},
    ]
    return ModelRequest(**{"model": "claude-haiku-4-5", "messages": messages, **fields})


async def ask(asked: ModelRequest) -> list[StreamEvent]:
    return [event async for event in Anthropic(max_retries=0).stream(asked)]


async def test_an_answer_for_which_the_window_has_no_room_is_asked_for_shorter_once(serve: Serve) -> None:
    async with serve(refusal(NO_ROOM), Answer(text_answer())) as server:
        asked = request()
        events = await ask(asked)
        await asked.stash.aclose()
    assert isinstance(events[-1], Stop)
    assert [json.loads(body)["max_tokens"] for _, _, body in server.requests] == [32_000, 10_760]


async def test_it_is_not_asked_for_a_third_time(serve: Serve) -> None:
    async with serve(refusal(NO_ROOM)) as server:
        asked = request()
        with pytest.raises(PromptTooLong, match="exceed context limit"):
            await ask(asked)
        await asked.stash.aclose()
    assert len(server.requests) == 2


@pytest.mark.parametrize("prompt", [198_000, 250_000])
async def test_a_prompt_that_leaves_no_room_to_speak_of_is_too_long(serve: Serve, prompt: int) -> None:
    async with serve(refusal(NO_ROOM.replace("188240", str(prompt)))) as server:
        asked = request()
        with pytest.raises(PromptTooLong):
            await ask(asked)
        await asked.stash.aclose()
    assert len(server.requests) == 1


async def test_where_a_thought_is_missing_under_a_budget_the_answer_is_made_without_thinking(serve: Serve) -> None:
    async with serve(refusal(NO_THOUGHT), Answer(text_answer())) as server:
        asked = request(thinking=2_000)
        await ask(asked)
        await asked.stash.aclose()
    sent = [json.loads(body)["thinking"]["type"] for _, _, body in server.requests]
    assert sent == ["enabled", "disabled"]
