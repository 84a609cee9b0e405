from __future__ import annotations

import subprocess
import sys

import pytest

from toolpost import Usage
from toolpost_provider_anthropic import Anthropic
from toolpost_provider_anthropic.models import find


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("opus", "claude-opus-5-5"),
        ("sonnet", "claude-sonnet-5-5"),
        ("haiku", "claude-haiku-5-5"),
        ("fable", "claude-fable-5-2"),
        ("Sonnet[1m]", "claude-sonnet-5-5"),
        ("claude-opus-5[1M]", "claude-opus-5"),
        (" claude-haiku-4-5 ", "claude-haiku-4-5"),
    ],
)
def test_a_name_is_resolved_to_an_id_with_a_price(name: str, id: str) -> None:
    info = Anthropic().model(name)
    assert info.id == id
    assert info.price is not None
    assert info.prompt_caching


@pytest.mark.parametrize(
    ("name", "id", "window", "betas"),
    [
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5[1m]", 1_000_000, ("context-1m-2025-08-07",)),
        ("claude-next-9[1m]", "claude-next-9[1m]", 1_000_000, ("context-1m-2025-08-07",)),
        ("opus[1m]", "claude-opus-5-5", 1_000_000, ()),
        ("claude-sonnet-4-5", "claude-sonnet-4-5", 200_000, ()),
    ],
)
def test_the_suffix_asks_for_a_wide_window_where_the_model_has_a_smaller_one(
    name: str, id: str, window: int, betas: tuple[str, ...]
) -> None:
    model = find(name)
    assert (model.info.id, model.info.window, model.betas) == (id, window, betas)
    assert find(id) == model
    assert model.wire_id == id.removesuffix("[1m]")


def test_each_price_has_its_date_and_source() -> None:
    for info in Anthropic().models():
        assert info.price is not None
        assert info.price.as_of.year == 2026
        assert info.price.source


def test_searches_cost_ten_dollars_a_thousand() -> None:
    price = Anthropic().model("sonnet").price
    assert price is not None
    assert price.of(Usage(web_search_requests=3)) == pytest.approx(0.03)


def test_an_unknown_model_has_no_price_and_cautious_limits() -> None:
    info = Anthropic().model("claude-next-9")
    assert (info.id, info.price, info.window, info.max_output) == ("claude-next-9", None, 200_000, 32_000)


def test_the_price_of_the_default_model_is_that_of_the_table() -> None:
    price = Anthropic().model(Anthropic.default_model).price
    assert price is not None
    million = 1_000_000
    assert price.of(Usage(million, million, 0, million)) == pytest.approx(2 + 10 + 0.1)
    assert price.of(Usage(0, 0, 2 * million, 0, million)) == pytest.approx(2.5 + 4)


def test_a_long_prompt_to_haiku_costs_more() -> None:
    price = Anthropic().model("haiku").price
    assert price is not None
    assert price.of(Usage(100_000, 1000)) == pytest.approx(0.01 + 0.0005)
    assert price.of(Usage(1, 1000, 0, 100_000)) == pytest.approx((0.5 + 2500 + 5000) / 1_000_000)


def test_its_import_loads_nothing_heavy() -> None:
    code = (
        "import sys, toolpost_provider_anthropic as a; a.Anthropic().unusable({});"
        "heavy = {'httpx2', 'anthropic', 'pydantic', 'email', 'urllib.request'} & set(sys.modules); print(sorted(heavy))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
