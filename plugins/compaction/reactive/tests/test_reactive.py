from __future__ import annotations

import json
from typing import Any

from toolpost import Context, Message, ModelRequest, PromptTooLong
from toolpost.testing import conversation
from toolpost_compaction_reactive import Reactive


def context(
    messages: list[Message], answer: str | Exception = "<summary>They read.</summary>", **fields: Any
) -> Context:
    async def ask(request: ModelRequest) -> str:
        del request
        if isinstance(answer, Exception):
            raise answer
        return answer

    request = ModelRequest(model="m", messages=messages)
    usual: dict[str, Any] = {"messages": messages, "used": 210_000, "trigger": "prompt_too_long"}
    return Context(**(usual | {"request": request, "ask": ask} | fields))


def sent(messages: Any) -> str:
    return json.dumps(messages)


async def test_the_newest_rounds_stay_within_their_share_and_the_rest_is_summed_up() -> None:
    messages = conversation(60)
    given = context(messages, window=40_000)
    result = await Reactive().compact(given)
    assert result is not None
    assert "They read." in result.boundary
    assert list(result.messages[-4:]) == messages[-4:]
    assert 8_000 < given.tokens(result.messages[1:]) <= 10_000


async def test_where_the_model_takes_nothing_the_person_s_words_and_the_files_stand_for_it() -> None:
    result = await Reactive(keep=0.02).compact(context(conversation(30), PromptTooLong("too long")))
    assert result is not None
    assert "Prompt 0\n" in result.boundary
    assert "- /toolu_20_1.txt" in result.boundary
    assert "They read." not in result.boundary


async def test_one_prompt_that_is_too_long_keeps_its_beginning_and_its_end() -> None:
    prompt = "Count the sea. " + "Think. " * 100_000 + "Then tell me."
    for before in ([], conversation(5)):
        messages: list[Message] = [*before, {"role": "user", "content": prompt}]
        given = context(messages, PromptTooLong("too long"))
        result = await Reactive().compact(given)
        assert result is not None
        assert ["Count the sea." in sent(result.messages), "Then tell me." in sent(result.messages)] == [True, True]
        assert given.tokens(result.messages) < 5_000


async def test_a_prompt_that_fits_stays_whole() -> None:
    messages: list[Message] = [*conversation(30), {"role": "user", "content": "Think. " * 10_000}]
    result = await Reactive(keep=0.02).compact(context(messages))
    assert result is not None
    assert "Think. " * 10_000 in sent(result.messages)


async def test_what_was_shortened_before_is_left_alone() -> None:
    messages: list[Message] = [*conversation(30), {"role": "user", "content": "Go on."}]
    result = await Reactive(keep=0.001).compact(context(messages))
    assert result is not None
    assert await Reactive(keep=0.001).compact(context(list(result.messages))) is None


def test_it_is_asked_only_after_a_refusal() -> None:
    assert Reactive.triggers == ("prompt_too_long",)
