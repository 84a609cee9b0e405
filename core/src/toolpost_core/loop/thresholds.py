"""How full a conversation may get before something is done about it."""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from toolpost._frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolpost import ModelInfo

MILLION: Final = 1_000_000
DEFAULT_WINDOW: Final = 200_000
ANSWER: Final = 20_000
"""Tokens kept free for the answer: a summary is one, too."""
AUTO: Final = 13_000
WARN: Final = 20_000
BLOCKING: Final = 3_000
LARGEST: Final = 4
"""In a small window a reserve takes at most a quarter of what there is, and that of `blocking` a sixteenth."""
TIMEOUT: Final = 600
"""Seconds: a summary of a full window, asked for again where the service is busy, takes minutes."""
_TRUE: Final = frozenset({"1", "true", "yes", "on"})


@frozen(kw_only=True)
class Policy:
    """What the settings and the environment say of compaction.

    `compact` is whether anything is ever summed up, `auto` whether that also happens by itself. `window` and `auto_window`
    stand in the place of the model's window, the latter for the automatic start only; `percent` brings it forward. A
    strategy may take `timeout` seconds.
    """

    compact: bool = True
    auto: bool = True
    order: Sequence[str] = ()
    window: int | None = None
    auto_window: int | None = None
    percent: float | None = None
    buffers: Mapping[str, int] = field(default_factory=dict)
    timeout: float = TIMEOUT

    @classmethod
    def of(cls, settings: Mapping[str, Any], env: Mapping[str, str]) -> Policy:
        """Read both; the environment wins, and what is no number there is passed over."""
        own = settings.get("compaction", {})
        return cls(
            compact=not _on(env, "DISABLE_COMPACT"),
            auto=settings.get("autoCompactEnabled", True) and not _on(env, "DISABLE_AUTO_COMPACT"),
            order=tuple(own.get("order", ())),
            window=_number(env, "TOOLPOST_MAX_CONTEXT_TOKENS"),
            auto_window=_number(env, "TOOLPOST_AUTO_COMPACT_WINDOW") or settings.get("autoCompactWindow"),
            percent=_number(env, "TOOLPOST_AUTOCOMPACT_PCT_OVERRIDE"),
            timeout=own.get("timeout", TIMEOUT),
            buffers={name: own[name] for name in ("warn", "auto", "blocking") if name in own},
        )


@frozen(kw_only=True)
class Thresholds:
    """Numbers of tokens. `effective` is the window without what is kept free for the answer.

    From `warn` on a person is told, from `auto` on the conversation is compacted, from `blocking` on nothing is sent.
    """

    window: int
    effective: int
    warn: int
    auto: int
    blocking: int

    @classmethod
    def of(cls, model: ModelInfo, wanted: str | None, policy: Policy) -> Thresholds:
        """Work them out for a model; `wanted` is the name that it was asked for by."""
        window = window_of(model, wanted, policy)
        effective = _effective(window, model)
        auto_from = min(effective, _effective(policy.auto_window, model)) if policy.auto_window else effective
        auto = auto_from - _part(policy.buffers.get("auto", AUTO), auto_from)
        if policy.percent is not None and 0 < policy.percent <= 100:
            auto = min(auto, int(auto_from * policy.percent / 100))
        return cls(
            window=window,
            effective=effective,
            warn=auto - _part(policy.buffers.get("warn", WARN), auto),
            auto=auto,
            blocking=effective - _part(policy.buffers.get("blocking", BLOCKING), effective // LARGEST),
        )


def window_of(model: ModelInfo, wanted: str | None, policy: Policy) -> int:
    """Return the model's window: what the environment says, a name that ends in [1m], what the provider knows, 200,000."""
    if policy.window:
        return policy.window
    if wanted is not None and re.search(r"\[1m\]$", wanted.strip(), re.IGNORECASE):
        return MILLION
    return model.window or DEFAULT_WINDOW


def _effective(window: int, model: ModelInfo) -> int:
    return window - _part(min(model.max_output or ANSWER, ANSWER), window)


def _part(tokens: int, of: int) -> int:
    return min(tokens, of // LARGEST)


def _on(env: Mapping[str, str], name: str) -> bool:
    return env.get(name, "").strip().lower() in _TRUE


def _number(env: Mapping[str, str], name: str) -> int | None:
    text = env.get(name, "").strip()
    return int(text) if text.isascii() and text.isdigit() and int(text) else None
