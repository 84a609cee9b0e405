from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from fake_session import fake_session, of_type, result_of, run

from toolpost import EFFORTS, ModelInfo, ModelRequest, Notice, Price, Provider, ProviderError, StreamEvent
from toolpost.testing import FakeModel
from toolpost_core.session.adjusting import adjusted, odd_limits
from toolpost_core.settings.keys import EFFORT_NAMES

PRICE = Price(input=1, output=2, cache_write=3, cache_read=4, cache_write_1h=5, above_tokens=9, above=None)


async def asked(tmp_path: Path, env: dict[str, str] | None = None, **options: Any) -> ModelRequest:
    model = FakeModel("Hi.")
    async with fake_session(tmp_path, model, env=env, **options) as session:
        await run(session)
    return model.requests[0]


def settings(tmp_path: Path, text: str) -> None:
    (tmp_path / "state").mkdir(exist_ok=True)
    (tmp_path / "state" / "settings.json").write_text(text)


def test_the_levels_of_the_command_line_are_those_of_the_api() -> None:
    assert EFFORT_NAMES == EFFORTS


async def test_nothing_is_asked_for_where_nobody_says_anything(tmp_path: Path) -> None:
    request = await asked(tmp_path)
    assert (request.effort, request.thinking) == (None, None)


async def test_the_flag_goes_before_the_variable_and_that_before_the_settings(tmp_path: Path) -> None:
    settings(tmp_path, '{"effortLevel": "low"}')
    env = {"TOOLPOST_EFFORT_LEVEL": "medium"}
    assert (await asked(tmp_path)).effort == "low"
    assert (await asked(tmp_path, env)).effort == "medium"
    assert (await asked(tmp_path, env, effort="max")).effort == "max"


@pytest.mark.parametrize(
    ("always", "env", "thinking"),
    [
        ("null", {}, None),
        ("true", {}, "adaptive"),
        ("false", {}, "disabled"),
        ("false", {"MAX_THINKING_TOKENS": "4000"}, 4000),
        ("true", {"MAX_THINKING_TOKENS": "0"}, "disabled"),
        ("true", {"TOOLPOST_DISABLE_THINKING": "1", "MAX_THINKING_TOKENS": "4000"}, "disabled"),
        ("true", {"TOOLPOST_DISABLE_THINKING": "0"}, "adaptive"),
    ],
)
async def test_thinking_is_asked_for_as_settings_and_environment_say(
    tmp_path: Path, always: str, env: dict[str, str], thinking: Any
) -> None:
    if always != "null":
        settings(tmp_path, f'{{"alwaysThinkingEnabled": {always}}}')
    assert (await asked(tmp_path, env)).thinking == thinking


async def test_what_is_chosen_in_the_session_counts_from_the_next_request_on(tmp_path: Path) -> None:
    model = FakeModel("One.", "Two.", "Three.")
    async with fake_session(tmp_path, model, effort="low") as session:
        await run(session)
        session.set_effort("high")
        session.set_thinking(2_000)
        await run(session)
        assert session.effort == "high"
        session.set_effort(None)
        session.set_thinking(None)
        await run(session)
    assert [(request.effort, request.thinking) for request in model.requests] == [
        ("low", None),
        ("high", 2_000),
        ("low", None),
    ]


async def test_a_variable_that_can_not_be_used_is_named_and_left_out(tmp_path: Path) -> None:
    env = {"TOOLPOST_EFFORT_LEVEL": "huge", "MAX_THINKING_TOKENS": "lots", "TOOLPOST_MAX_CONTEXT_TOKENS": "-1"}
    async with fake_session(tmp_path, FakeModel("Hi."), env=env) as session:
        events = await run(session)
    said = " ".join(notice.text for notice in of_type(events, Notice))
    for name, value in env.items():
        assert f"{name} is {value!r}" in said
    assert result_of(events).text == "Hi."


def test_windows_and_limits_are_what_the_environment_says() -> None:
    env = {"TOOLPOST_MAX_CONTEXT_TOKENS": "50000", "TOOLPOST_MAX_OUTPUT_TOKENS": "4000"}
    info = adjusted(ModelInfo(id="m"), env, None)
    assert (info.window, info.max_output) == (50_000, 4_000)
    assert adjusted(ModelInfo(id="m"), {}, None) == ModelInfo(id="m")
    assert odd_limits(env) == []


def test_prices_are_what_the_settings_say() -> None:
    known, unknown = ModelInfo(id="known", price=PRICE), ModelInfo(id="unknown")
    pricing = {"multiplier": 2, "overrides": {"unknown": {"input": 7, "output": 8, "cacheRead": 1}}}
    price = adjusted(known, {}, pricing).price
    assert price is not None
    assert (price.input, price.output, price.cache_write, price.cache_read, price.cache_write_1h) == (2, 4, 6, 8, 10)
    price = adjusted(unknown, {}, pricing).price
    assert price is not None
    assert (price.input, price.output, price.cache_write, price.cache_read) == (14, 16, 14, 2)
    price = adjusted(known, {}, {"overrides": {"known": {"input": 9, "cacheWrite": 6}}}).price
    assert price is not None
    assert (price.input, price.output, price.cache_write, price.cache_write_1h, price.above_tokens) == (
        9,
        2,
        6,
        6,
        None,
    )


@pytest.mark.parametrize("pricing", [{"overrides": {"unknown": {"input": 7}}}, {"overrides": []}, {"multiplier": "x"}])
def test_a_price_that_is_half_told_is_none(pricing: Any) -> None:
    assert adjusted(ModelInfo(id="unknown"), {}, pricing).price is None


class Choosy(FakeModel):
    """Knows one model beside its own, and says so when it is asked."""

    def model(self, name: str) -> ModelInfo:
        return ModelInfo(id=name, window=100 if name == "small" else 200_000)

    async def check_model(self, request: ModelRequest) -> None:
        if request.model not in ("small", self.default_model):
            raise ProviderError(f"There is no model {request.model!r}.", kind="model_not_found")


async def test_a_model_that_is_not_there_is_refused_when_it_is_asked_for(tmp_path: Path) -> None:
    async with fake_session(tmp_path, Choosy("Hi.")) as session:
        with pytest.raises(ProviderError, match="no model 'nothing'"):
            await session.set_model("nothing")
        assert session.model.id == "fake-model"
        assert result_of(await run(session)).text == "Hi."


async def test_a_window_that_the_conversation_does_not_fit_is_told(tmp_path: Path) -> None:
    async with fake_session(tmp_path, Choosy("Hi.")) as session:
        await run(session)
        session.conversation.used = 5_000
        await session.set_model("small")
        assert "The conversation has about 5,000 tokens and the window of small 100" in session.parts.notices[-1]


async def test_the_model_in_use_is_not_asked_about(tmp_path: Path) -> None:
    class Silent(Provider):
        default_model = "only"

        async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
            raise AssertionError("nothing is sent")
            yield

        async def check_model(self, request: ModelRequest) -> None:
            raise AssertionError("it answers already")

    async with fake_session(tmp_path, Silent()) as session:
        assert (await session.set_model("only")).id == "only"
