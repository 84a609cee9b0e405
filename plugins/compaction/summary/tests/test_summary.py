from __future__ import annotations

import json
from typing import Any

import pytest

from toolpost import Context, Message, ModelRequest, PromptTooLong, ProviderError
from toolpost.testing import conversation
from toolpost_compaction_summary import Summary

PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 400_000}}


class Model:
    """Answers requests for a summary from a list; keeps the requests."""

    def __init__(self, *answers: str | Exception) -> None:
        self._answers = list(answers)
        self.requests: list[ModelRequest] = []

    async def __call__(self, request: ModelRequest) -> str:
        self.requests.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def context(model: Model, messages: list[Message], **fields: Any) -> Context:
    request = ModelRequest(model="m", messages=messages, cache_breakpoints=(len(messages) - 1,))
    usual: dict[str, Any] = {"messages": messages, "used": 195_000, "trigger": "auto", "request": request, "ask": model}
    return Context(**(usual | fields))


def texts(messages: Any) -> str:
    return json.dumps(messages)


async def test_the_handover_stands_before_the_newest_rounds() -> None:
    model, messages = Model("<summary>They read files.</summary>"), conversation(30)
    result = await Summary(keep=3_000).compact(context(model, messages))
    assert result is not None
    assert "They read files." in result.boundary
    assert result.messages[0]["role"] == "user"
    assert list(result.messages[-4:]) == messages[-4:]
    assert 4 < len(result.messages) < 20


async def test_the_request_is_the_session_s_with_an_instruction_behind() -> None:
    model, messages = Model("<summary>s</summary>"), conversation(30)
    await Summary(keep=0).compact(context(model, messages))
    (request,) = model.requests
    assert list(request.messages[: len(messages)]) == messages
    assert "write a handover" in texts(request.messages[-1])
    assert request.cache_breakpoints == (len(messages),)
    assert request.purpose == "compaction"


async def test_what_other_strategies_cleared_is_still_shown_to_the_model() -> None:
    """The prompt cache holds what was sent, not what they made of it."""
    model, sent = Model("<summary>s</summary>"), conversation(30)
    cleared: list[Message] = [*sent[:2], {"role": "user", "content": "cleared"}, *sent[3:]]
    await Summary().compact(context(model, cleared, request=ModelRequest(model="m", messages=sent)))
    assert model.requests[0].messages[2] is sent[2]


async def test_what_the_person_wrote_is_carried_over_word_for_word_again_and_again() -> None:
    messages, boundary = conversation(30), ""
    for number in range(3):
        model = Model(f"<summary>Handover {number}.</summary>")
        result = await Summary(keep=500).compact(context(model, messages))
        assert result is not None
        messages, boundary = [*result.messages, *conversation(3, result="more\n" * 800)], result.boundary
    assert all(f"Prompt {number}\n" in boundary for number in range(29))
    assert "Handover 2." in boundary
    assert "Handover 1." not in boundary


async def test_files_that_were_touched_are_named_newest_first() -> None:
    result = await Summary(keep=0).compact(context(Model("<summary>s</summary>"), conversation(160)))
    assert result is not None
    assert result.boundary.index("- /toolu_159_1.txt") < result.boundary.index("- /toolu_11_0.txt")
    assert "- /toolu_9_0.txt" not in result.boundary  # the three hundred newest


async def test_a_person_s_instructions_reach_the_model() -> None:
    model = Model("<summary>s</summary>")
    await Summary().compact(context(model, conversation(9), trigger="manual", instructions="keep the names"))
    assert "keep the names" in texts(model.requests[0].messages[-1])


async def test_where_a_person_asks_all_of_it_goes_but_a_short_conversation_stays() -> None:
    model = Model("<summary>s</summary>")
    result = await Summary().compact(context(model, conversation(9), trigger="manual"))
    assert result is not None
    assert len(result.messages) == 1
    assert await Summary().compact(context(model, conversation(2, result="ok"), trigger="manual")) is None
    assert await Summary().compact(context(model, list(result.messages), trigger="manual")) is None
    assert len(model.requests) == 1


async def test_a_prompt_that_is_not_answered_yet_stays() -> None:
    messages: list[Message] = [*conversation(9), {"role": "user", "content": "And now? " * 9_000}]
    result = await Summary(keep=100).compact(context(Model("<summary>s</summary>"), messages))
    assert result is not None
    assert "And now?" in texts(result.messages[-1])


async def test_pictures_are_named_only() -> None:
    asked: Any = {"role": "user", "content": [PICTURE, {"type": "text", "text": "What is it?"}]}
    shown: Any = [{"type": "tool_result", "tool_use_id": "t", "content": [PICTURE]}]
    use: Any = [{"type": "tool_use", "id": "t", "name": "Read", "input": {}}]
    model = Model("<summary>s</summary>")
    messages: list[Message] = [
        asked,
        {"role": "assistant", "content": use},
        {"role": "user", "content": shown},
        *conversation(9)[1:],
    ]
    await Summary().compact(context(model, messages))
    assert texts(model.requests[0].messages).count("[image]") == 2
    assert "AAAA" not in texts(model.requests[0].messages)


async def test_a_request_that_is_too_long_goes_again_without_the_oldest_rounds() -> None:
    model = Model(PromptTooLong("too long"), PromptTooLong("too long"), "<summary>s</summary>")
    result = await Summary().compact(context(model, conversation(30)))
    assert result is not None
    sizes = [len(request.messages) for request in model.requests]
    assert sizes == sorted(set(sizes), reverse=True)
    assert all(request.messages[0]["role"] == "user" for request in model.requests)
    assert "left out here" in texts(model.requests[-1].messages[0])


async def test_as_much_is_left_out_as_the_service_says_that_is_too_much() -> None:
    model = Model(PromptTooLong("too long", tokens_over=20_000), "<summary>s</summary>")
    messages = conversation(30)
    await Summary(keep=0).compact(context(model, messages))
    first, second = (context(model, list(request.messages)).tokens(request.messages) for request in model.requests)
    assert 20_000 <= first - second < 22_000


async def test_after_three_retries_it_says_what_to_do() -> None:
    model = Model(*[PromptTooLong("too long")] * 9)
    with pytest.raises(PromptTooLong, match="Go back to an earlier prompt"):
        await Summary().compact(context(model, conversation(30)))
    assert len(model.requests) == 4


async def test_an_answer_without_a_summary_is_an_error() -> None:
    with pytest.raises(ProviderError, match="without one"):
        await Summary().compact(context(Model("<summary>  </summary>"), conversation(30)))


async def test_without_a_model_it_says_so() -> None:
    with pytest.raises(ProviderError, match="no model"):
        await Summary().compact(Context(messages=conversation(30), used=195_000, trigger="auto"))


async def test_what_is_far_too_long_is_not_sent_to_be_refused() -> None:
    model, messages = Model("<summary>s</summary>"), conversation(30)
    tokens = context(model, messages).tokens(messages)
    await Summary(keep=0).compact(context(model, messages, window=tokens // 4))
    (request,) = model.requests
    assert context(model, messages).tokens(request.messages) < tokens // 4 + 1_000
    assert "beginning of the conversation was left out" in texts(request.messages[0])
    assert list(request.messages[-3:-1]) == messages[-2:]


async def test_what_is_a_little_too_long_is_sent_as_the_cache_has_it() -> None:
    model, messages = Model("<summary>s</summary>"), conversation(30)
    await Summary(keep=0).compact(context(model, messages, window=context(model, messages).tokens(messages) * 2 // 3))
    assert list(model.requests[0].messages[: len(messages)]) == messages
