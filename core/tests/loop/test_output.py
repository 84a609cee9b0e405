from __future__ import annotations

from typing import Any

import pytest

from toolpost import ModelInfo, ModelRequest
from toolpost_core.loop.output import can_raise, limited

LARGE, MIDDLE, SMALL = (ModelInfo(id="m", max_output=n) for n in (128_000, 32_000, 4_000))


def request(**fields: Any) -> ModelRequest:
    return ModelRequest(model="m", messages=(), **fields)


@pytest.mark.parametrize(
    ("fields", "model", "first", "raised"),
    [
        ({}, LARGE, 8_000, 64_000),
        ({}, MIDDLE, 8_000, 32_000),
        ({}, SMALL, 4_000, None),
        ({"max_tokens": 77}, LARGE, 77, None),
        ({"thinking": 10_000}, LARGE, 18_000, 74_000),
        ({"thinking": "adaptive"}, LARGE, 8_000, 64_000),
        ({"env": {"TOOLPOST_MAX_OUTPUT_TOKENS": "20000"}}, LARGE, 20_000, None),
        ({"env": {"TOOLPOST_MAX_OUTPUT_TOKENS": "20000"}}, SMALL, 4_000, None),
        ({"env": {"TOOLPOST_MAX_OUTPUT_TOKENS": "many"}}, LARGE, 8_000, 64_000),
    ],
)
def test_an_answer_may_be_short_first_and_long_where_that_did_not_do(
    fields: Any, model: ModelInfo, first: int, raised: int | None
) -> None:
    asked = request(**fields)

    assert limited(asked, model, raised=False).max_tokens == first
    assert can_raise(asked, model, raised=False) is (raised is not None)
    assert limited(asked, model, raised=True).max_tokens == (raised or first)
    assert not can_raise(asked, model, raised=True)
