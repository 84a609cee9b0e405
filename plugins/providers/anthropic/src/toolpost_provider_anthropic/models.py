"""The models that are known without asking, and how a name is resolved."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from toolpost import ModelInfo, Price

from . import prices

DEFAULT: Final = "claude-sonnet-5-5"
MILLION: Final = 1_000_000
_DATED: Final = re.compile(r"-\d{8}$")


def _model(id: str, price: Price, *, window: int = MILLION, max_output: int = 128_000) -> ModelInfo:
    return ModelInfo(
        id=id, window=window, max_output=max_output, price=price, prompt_caching=True, images=True, documents=True
    )


# The pages name no output limit for the 4 families: theirs is the lowest of the family.
MODELS: Final = (
    _model("claude-fable-5-1", prices.FABLE_5_1),
    _model("claude-opus-5-5", prices.OPUS_5_5),
    _model("claude-sonnet-5-5", prices.SONNET_5_5),
    _model("claude-haiku-5-5", prices.HAIKU_5_5),
    _model("claude-fable-5", prices.FABLE_5),
    _model("claude-opus-5", prices.OPUS),
    _model("claude-sonnet-5", prices.SONNET_5),
    _model("claude-opus-4-8", prices.OPUS, max_output=64_000),
    _model("claude-opus-4-7", prices.OPUS, max_output=64_000),
    _model("claude-opus-4-6", prices.OPUS, max_output=64_000),
    _model("claude-opus-4-5-20251101", prices.OPUS, window=200_000, max_output=64_000),
    _model("claude-sonnet-4-6", prices.SONNET_4, max_output=64_000),
    _model("claude-sonnet-4-5-20250929", prices.SONNET_4, window=200_000, max_output=64_000),
    _model("claude-haiku-4-5-20251001", prices.HAIKU_4_5, window=200_000, max_output=64_000),
)
ALIASES: Final[Mapping[str, str]] = {
    "default": DEFAULT,
    "fable": "claude-fable-5-1",
    "opus": "claude-opus-5-5",
    "sonnet": "claude-sonnet-5-5",
    "haiku": "claude-haiku-5-5",
}


def find(name: str) -> ModelInfo:
    """Resolve an alias or id; an unknown id is passed on as it is, without a price and with cautious limits."""
    # The suffix asked for a window of a million tokens, which these models have anyway.
    id = re.sub(r"\[1m\]$", "", name.strip(), flags=re.IGNORECASE)
    id = ALIASES.get(id.lower(), id)
    bare = _DATED.sub("", id)
    exact = next((known for known in MODELS if known.id == id), None)
    known = exact or next((known for known in MODELS if _DATED.sub("", known.id) == bare), None)
    return replace(known, id=id) if known is not None else ModelInfo(id=id, prompt_caching=True)
