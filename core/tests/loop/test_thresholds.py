"""How full a conversation may get."""

from __future__ import annotations

from typing import Any

import pytest

from toolpost import ModelInfo
from toolpost_core.loop.thresholds import Policy, Thresholds, window_of


def limits(window: int = 200_000, max_output: int = 64_000, wanted: str | None = None, **policy: Any) -> Thresholds:
    return Thresholds.of(ModelInfo(id="m", window=window, max_output=max_output), wanted, Policy(**policy))


def test_a_window_of_200000_tokens() -> None:
    found = limits()
    assert (found.effective, found.warn, found.auto, found.blocking) == (180_000, 147_000, 167_000, 177_000)


def test_no_more_is_kept_free_than_the_model_may_answer() -> None:
    assert limits(max_output=8_000).effective == 192_000


def test_the_settings_say_how_far_from_the_end() -> None:
    found = limits(buffers={"auto": 30_000, "warn": 1_000, "blocking": 0})
    assert (found.warn, found.auto, found.blocking) == (149_000, 150_000, 180_000)


@pytest.mark.parametrize("window", [1_000, 8_000, 32_000, 128_000, 1_000_000])
def test_the_thresholds_stand_in_order_in_any_window(window: int) -> None:
    found = limits(window)
    assert 0 < found.warn < found.auto < found.blocking < found.effective < found.window


@pytest.mark.parametrize(
    ("wanted", "policy", "window"),
    [
        ("m", {}, 200_000),
        ("m[1m]", {}, 1_000_000),
        ("m [1M]", {}, 1_000_000),
        ("m[1m]", {"window": 50_000}, 50_000),
        (None, {}, 200_000),
    ],
)
def test_the_window_is_what_the_environment_the_name_or_the_provider_says(
    wanted: str | None, policy: dict[str, Any], window: int
) -> None:
    assert window_of(ModelInfo(id="m", window=200_000), wanted, Policy(**policy)) == window


def test_a_window_of_ones_own_or_a_percentage_brings_the_start_forward() -> None:
    assert limits(1_000_000, auto_window=200_000).auto == 167_000
    assert limits(1_000_000, auto_window=200_000).blocking == 977_000
    assert limits(percent=50.0).auto == 90_000
    assert limits(percent=99.0).auto == 167_000


def test_the_environment_wins_over_the_settings() -> None:
    settings = {
        "autoCompactEnabled": True,
        "autoCompactWindow": 300_000,
        "compaction": {"order": ["b", "a"], "auto": 5},
    }
    plain = Policy.of(settings, {})
    assert (plain.auto, plain.auto_window, plain.order, plain.buffers) == (True, 300_000, ("b", "a"), {"auto": 5})
    env = {
        "DISABLE_AUTO_COMPACT": "1",
        "TOOLPOST_AUTO_COMPACT_WINDOW": "150000",
        "TOOLPOST_MAX_CONTEXT_TOKENS": "90000",
        "TOOLPOST_AUTOCOMPACT_PCT_OVERRIDE": "many",
    }
    found = Policy.of(settings, env)
    assert (found.compact, found.auto, found.auto_window, found.window, found.percent) == (
        True,
        False,
        150_000,
        90_000,
        None,
    )
    assert Policy.of({}, {"DISABLE_COMPACT": "true"}).compact is False
