"""How long an answer may be: few tokens at first, as most answers are short, and many where that did not do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from toolpost import ModelInfo, ModelRequest

FIRST: Final = 8_000
RAISED: Final = 64_000
VARIABLE: Final = "TOOLPOST_MAX_OUTPUT_TOKENS"


def limited(request: ModelRequest, model: ModelInfo, *, raised: bool) -> ModelRequest:
    """Return the request with a limit of tokens; one that names its own, or whose user does, keeps that."""
    if request.max_tokens is not None:
        return request
    if (chosen := _chosen(request)) is not None:
        return replace(request, max_tokens=min(chosen, model.max_output))
    # What is thought counts as output; its budget must leave room for the answer.
    thinking = request.thinking if isinstance(request.thinking, int) else 0
    return replace(request, max_tokens=min((RAISED if raised else FIRST) + thinking, model.max_output))


def can_raise(request: ModelRequest, model: ModelInfo, *, raised: bool) -> bool:
    """Whether an answer to the request, as it was before `limited`, may be longer the next time."""
    if raised or request.max_tokens is not None or _chosen(request) is not None:
        return False
    return limited(request, model, raised=True).max_tokens != limited(request, model, raised=False).max_tokens


def _chosen(request: ModelRequest) -> int | None:
    text = (request.env or {}).get(VARIABLE, "")
    return int(text) if text.isdecimal() and int(text) else None
