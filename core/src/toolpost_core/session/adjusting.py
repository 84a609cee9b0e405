"""What the environment and the settings say of models otherwise than their provider: windows, limits and prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

import toolpost

if TYPE_CHECKING:
    from toolpost import ModelInfo, Price

WINDOW: Final = "TOOLPOST_MAX_CONTEXT_TOKENS"
OUTPUT: Final = "TOOLPOST_MAX_OUTPUT_TOKENS"
PRICING: Final = "settings: modelPricing"


def adjusted(info: ModelInfo, env: Mapping[str, str], pricing: Mapping[str, Any] | None) -> ModelInfo:
    """Return a model as it counts in this session; `pricing` is the setting `modelPricing`."""
    window, output = _tokens(env, WINDOW), _tokens(env, OUTPUT)
    if window is None and output is None and not pricing:
        return info
    return replace(
        info,
        window=window or info.window,
        max_output=output or info.max_output,
        price=_priced(info, pricing or {}),
    )


def odd_limits(env: Mapping[str, str]) -> list[str]:
    """Say which variables hold what is no number of tokens; they count as not set."""
    return [
        f"{name} is {env[name].strip()!r}, which is no number of tokens over 0. It is left out."
        for name in (WINDOW, OUTPUT)
        if env.get(name, "").strip() and _tokens(env, name) is None
    ]


def _tokens(env: Mapping[str, str], name: str) -> int | None:
    text = env.get(name, "").strip()
    return int(text) or None if text.isdecimal() else None


def _priced(info: ModelInfo, pricing: Mapping[str, Any]) -> Price | None:
    price, overrides = info.price, pricing.get("overrides")
    own = overrides.get(info.id) if isinstance(overrides, Mapping) else None
    if isinstance(own, Mapping):
        price = _overridden(price, own)
    factor = pricing.get("multiplier")
    return _times(price, float(factor)) if price is not None and isinstance(factor, int | float) else price


def _overridden(price: Price | None, own: Mapping[str, Any]) -> Price | None:
    """Return the price with what the setting says of it; None where even then input and output are not known."""
    names = {"input": "input", "output": "output", "cache_write": "cacheWrite", "cache_read": "cacheRead"}
    said = {field: float(own[key]) for field, key in names.items() if isinstance(own.get(key), int | float)}
    if price is not None:
        # An hour's write is told in the setting with the others: nobody pays a price of ours beside prices of theirs.
        hour = {"cache_write_1h": said["cache_write"]} if "cache_write" in said else {}
        return replace(price, **cast("Any", said | hour), source=PRICING, above_tokens=None, above=None)
    if not {"input", "output"} <= said.keys():
        return None
    write, read = said.get("cache_write", said["input"]), said.get("cache_read", said["input"])
    return toolpost.Price(
        input=said["input"],
        output=said["output"],
        cache_write=write,
        cache_write_1h=write,
        cache_read=read,
        source=PRICING,
    )


def _times(price: Price, factor: float) -> Price:
    return replace(
        price,
        input=price.input * factor,
        output=price.output * factor,
        cache_write=price.cache_write * factor,
        cache_read=price.cache_read * factor,
        cache_write_1h=price.cache_write_1h * factor,
        web_search=price.web_search * factor,
        above=_times(price.above, factor) if price.above is not None else None,
    )
