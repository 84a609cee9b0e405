from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from toolpost import Effort, ModelRequest
from toolpost_provider_anthropic.body import max_tokens
from toolpost_provider_anthropic.models import KNOWN, find
from toolpost_provider_anthropic.thinking import nearest, options

ADAPTIVE = {"type": "adaptive", "display": "summarized"}


def asked(model: str, **fields: Any) -> dict[str, Any]:
    request = ModelRequest(model=model, messages=[{"role": "user", "content": "Hi"}], **fields)
    return options(request, find(model))


@pytest.mark.parametrize(
    ("model", "thinking", "sent"),
    [
        ("sonnet", None, ADAPTIVE),
        ("sonnet", "adaptive", ADAPTIVE),
        ("sonnet", 10_000, ADAPTIVE),
        ("sonnet", "disabled", {"type": "between_tools"}),
        ("opus", "disabled", None),
        ("haiku", 0, {"type": "disabled"}),
        ("claude-opus-4-8", None, None),
        ("claude-opus-4-8", "adaptive", ADAPTIVE),
        ("claude-opus-4-6", None, None),
        ("claude-opus-4-6", 10_000, {"type": "enabled", "budget_tokens": 10_000}),
        ("claude-opus-4-6", "adaptive", {"type": "adaptive"}),
        ("claude-haiku-4-5", "adaptive", None),
        ("claude-haiku-4-5", 10, {"type": "enabled", "budget_tokens": 1_024}),
        ("claude-haiku-4-5", "disabled", {"type": "disabled"}),
        ("claude-next-9", None, None),
        ("claude-next-9", 10_000, {"type": "enabled", "budget_tokens": 10_000}),
        ("claude-next-9", "adaptive", {"type": "adaptive"}),
        ("claude-next-9", "disabled", {"type": "disabled"}),
    ],
)
def test_a_model_is_asked_for_what_it_takes_of_thinking(model: str, thinking: Any, sent: Any) -> None:
    assert asked(model, thinking=thinking).get("thinking") == sent


@pytest.mark.parametrize(
    ("model", "effort", "sent"),
    [
        ("sonnet", "max", "max"),
        ("claude-opus-4-6", "xhigh", "high"),
        ("claude-opus-4-6", "max", "max"),
        ("claude-opus-4-5", "max", "high"),
        ("claude-haiku-4-5", "low", None),
        ("claude-next-9", "low", None),
    ],
)
def test_effort_comes_as_near_as_the_model_allows(model: str, effort: Effort, sent: str | None) -> None:
    assert asked(model, effort=effort).get("output_config") == ({"effort": sent} if sent else None)


def test_what_a_model_can_not_do_at_a_high_level_is_not_asked_for() -> None:
    assert "thinking" not in asked("sonnet", thinking="disabled", effort="max")
    assert asked("sonnet", thinking="disabled", effort="high")["thinking"] == {"type": "between_tools"}


def test_a_level_below_all_gets_the_lowest() -> None:
    assert nearest("low", ("medium", "high")) == "medium"


def test_a_budget_leaves_room_for_the_answer() -> None:
    model = find("claude-haiku-4-5")
    request = ModelRequest(model="claude-haiku-4-5", messages=[{"role": "user", "content": "Hi"}], thinking=10_000)
    assert max_tokens(request, model) == 42_000
    assert max_tokens(replace(request, max_tokens=18_000), model) == 18_000
    assert max_tokens(replace(request, max_tokens=8_000), model) == 18_000
    huge = ModelRequest(model="claude-haiku-4-5", messages=request.messages, thinking=1_000_000, max_tokens=8_000)
    assert options(huge, model)["thinking"]["budget_tokens"] < max_tokens(huge, model) <= model.info.max_output


def test_a_model_does_by_default_what_it_takes() -> None:
    for model in KNOWN:
        assert model.info.effort is None or model.info.effort in model.info.efforts
