"""The models that are known without asking, and how a name is resolved."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from toolpost import Effort, ModelInfo, Price

from . import prices

DEFAULT: Final = "claude-sonnet-5-5"
MILLION: Final = 1_000_000
MILLION_BETA: Final = "context-1m-2025-08-07"
"""Asks for a window of a million tokens where a model has a smaller one by default."""
_SUFFIX: Final = "[1m]"
_DATED: Final = re.compile(r"-\d{8}$")
_ALL: Final[tuple[Effort, ...]] = ("low", "medium", "high", "xhigh", "max")
_NO_XHIGH: Final[tuple[Effort, ...]] = ("low", "medium", "high", "max")
_THREE: Final[tuple[Effort, ...]] = ("low", "medium", "high")


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model: what everybody may know of it, and how it is asked.

    `thinking` has the types of thinking that it takes, empty for an unknown model. It `thinks` where nothing is said of
    it, and `hides` what it thinks, and what it says between calls, unless it is asked for a summary. `betas` go into the
    request's header.
    """

    info: ModelInfo
    thinking: tuple[str, ...] = ()
    thinks: bool = False
    hides: bool = False
    betas: tuple[str, ...] = ()

    @property
    def wire_id(self) -> str:
        """The id as the service knows it."""
        return self.info.id.removesuffix(_SUFFIX)


def _model(
    id: str,
    price: Price,
    *thinking: str,
    window: int = MILLION,
    max_output: int = 128_000,
    efforts: tuple[Effort, ...] = _ALL,
    effort: Effort | None = "high",
    thinks: bool = True,
    hides: bool = True,
) -> Model:
    info = ModelInfo(
        id=id,
        window=window,
        max_output=max_output,
        price=price,
        prompt_caching=True,
        images=True,
        documents=True,
        efforts=efforts,
        effort=effort,
    )
    return Model(info=info, thinking=thinking, thinks=thinks, hides=hides)


def _older(id: str, price: Price, *thinking: str, efforts: tuple[Effort, ...] = (), window: int = 200_000) -> Model:
    effort: Effort | None = "high" if efforts else None
    return _model(
        id,
        price,
        *thinking,
        window=window,
        max_output=64_000,
        efforts=efforts,
        effort=effort,
        thinks=False,
        hides=False,
    )


# The pages name no output limit for the 4 families: theirs is the lowest of the family.
KNOWN: Final = (
    _model("claude-fable-5-2", prices.FABLE_5_2, "adaptive"),
    _model("claude-fable-5-1", prices.FABLE_5_1, "adaptive"),
    _model("claude-opus-5-5", prices.OPUS_5_5, "adaptive", effort="medium"),
    _model("claude-sonnet-5-5", prices.SONNET_5_5, "adaptive", "between_tools"),
    _model("claude-haiku-5-5", prices.HAIKU_5_5, "adaptive", "disabled", effort="medium"),
    _model("claude-fable-5", prices.FABLE_5, "adaptive"),
    _model("claude-opus-5", prices.OPUS, "adaptive", "disabled"),
    _model("claude-sonnet-5", prices.SONNET_5, "adaptive", "disabled"),
    _model("claude-opus-4-8", prices.OPUS, "adaptive", "disabled", max_output=64_000, thinks=False),
    _model("claude-opus-4-7", prices.OPUS, "adaptive", "disabled", max_output=64_000, thinks=False),
    _older("claude-opus-4-6", prices.OPUS, "adaptive", "enabled", "disabled", efforts=_NO_XHIGH, window=MILLION),
    _older("claude-opus-4-5-20251101", prices.OPUS, "enabled", "disabled", efforts=_THREE),
    _older("claude-sonnet-4-6", prices.SONNET_4, "adaptive", "enabled", "disabled", efforts=_NO_XHIGH, window=MILLION),
    _older("claude-sonnet-4-5-20250929", prices.SONNET_4, "enabled", "disabled"),
    _older("claude-haiku-4-5-20251001", prices.HAIKU_4_5, "enabled", "disabled"),
)
MODELS: Final = tuple(model.info for model in KNOWN)
ALIASES: Final[Mapping[str, str]] = {
    "default": DEFAULT,
    "fable": "claude-fable-5-2",
    "opus": "claude-opus-5-5",
    "sonnet": "claude-sonnet-5-5",
    "haiku": "claude-haiku-5-5",
}


def find(name: str) -> Model:
    """Resolve an alias or id; an unknown id is passed on as it is, without a price and with cautious limits.

    The suffix [1m] asks for a window of a million tokens. It stays in the id of a model that has a smaller one by itself.
    """
    id = name.strip()
    wide = id.lower().endswith(_SUFFIX)
    id = id[: -len(_SUFFIX)].strip() if wide else id
    id = ALIASES.get(id.lower(), id)
    known = _known(id)
    model = Model(info=ModelInfo(id=id, prompt_caching=True)) if known is None else known
    if not wide or model.info.window >= MILLION:
        return replace(model, info=replace(model.info, id=id))
    return replace(model, info=replace(model.info, id=id + _SUFFIX, window=MILLION), betas=(*model.betas, MILLION_BETA))


def is_known(name: str) -> bool:
    """Whether a name stands for a model of the table, so that nobody needs to be asked."""
    return _known(find(name).wire_id) is not None


def _known(id: str) -> Model | None:
    bare = _DATED.sub("", id)
    exact = next((model for model in KNOWN if model.info.id == id), None)
    return exact or next((model for model in KNOWN if _DATED.sub("", model.info.id) == bare), None)
