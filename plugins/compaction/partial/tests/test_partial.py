from __future__ import annotations

import json
from typing import Any, Literal

import pytest

from toolpost import Context, Message, ModelRequest, Part, ProviderError
from toolpost.testing import conversation
from toolpost_compaction_partial import Partial

PROMPTS = list(range(0, 40, 4))
"""Where the prompts of ten turns stand."""


class Asked:
    def __init__(self, answer: str = "<summary>They read.</summary>") -> None:
        self.answer = answer
        self.requests: list[ModelRequest] = []

    async def __call__(self, request: ModelRequest) -> str:
        self.requests.append(request)
        return self.answer


def context(direction: Literal["up_to", "from"], index: int, model: Asked | None = None, **fields: Any) -> Context:
    messages: list[Message] = conversation(10)
    usual: dict[str, Any] = {"messages": messages, "trigger": "partial", "part": Part(direction, index)}
    return Context(
        **(usual | {"request": ModelRequest(model="m", messages=messages), "ask": model or Asked()} | fields)
    )


def sent(messages: Any) -> str:
    return json.dumps(messages)


async def test_what_stands_before_a_prompt_gives_way_and_the_rest_stays() -> None:
    given = context("up_to", PROMPTS[6])
    result = await Partial().compact(given)
    assert result is not None
    assert list(result.messages[1:]) == list(given.messages[25:])
    first = result.messages[0]["content"]
    assert [block["type"] for block in first] == ["text", "text"]  # type: ignore[index]
    assert sent(first[-1]).count("Prompt 6") == 1
    assert "Prompt 5\n" in result.boundary


async def test_a_prompt_and_all_after_it_give_way_and_what_is_before_stays_in_the_cache() -> None:
    model = Asked()
    given = context("from", PROMPTS[6], model)
    result = await Partial().compact(given)
    assert result is not None
    assert list(result.messages[:-1]) == list(given.messages[:24])
    assert "Prompt 5\n" not in result.boundary
    assert "Prompt 6\n" in result.boundary
    (request,) = model.requests
    assert list(request.messages[:40]) == list(given.messages)
    assert "'Prompt 6'" in request.messages[-1]["content"][-1]["text"]  # type: ignore[index, typeddict-item]


async def test_a_place_among_results_is_moved_before_their_calls() -> None:
    result = await Partial().compact(context("from", PROMPTS[6] + 2))
    assert result is not None
    assert len(result.messages) == 25
    assert "Prompt 6" in sent(result.messages[24])


async def test_a_person_s_instructions_reach_the_model() -> None:
    model = Asked()
    await Partial().compact(context("up_to", 20, model, instructions="keep the names"))
    assert "keep the names" in sent(model.requests[0].messages[-1])


@pytest.mark.parametrize("part", [None, Part("up_to", 0), Part("from", 40)])
async def test_where_nothing_is_chosen_nothing_is_asked(part: Part | None) -> None:
    model = Asked()
    assert await Partial().compact(context("up_to", 0, model, part=part)) is None
    assert model.requests == []


async def test_an_answer_without_a_summary_is_an_error() -> None:
    with pytest.raises(ProviderError, match="without one"):
        await Partial().compact(context("up_to", 20, Asked("  ")))
