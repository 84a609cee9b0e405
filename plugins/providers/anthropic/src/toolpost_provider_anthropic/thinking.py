"""How much a model thinks: what comes nearest to what was asked for, of what the model takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from toolpost import EFFORTS, Effort

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost import ModelRequest

    from .models import Model

LEAST_BUDGET: Final = 1_024
"""Tokens; the service refuses a smaller budget."""
_UP_TO_HIGH: Final = ("low", "medium", "high")


def options(request: ModelRequest, model: Model) -> dict[str, Any]:
    """Return the fields of the body that say how much to think; empty where the model's default serves."""
    effort = nearest(request.effort, model.info.efforts) if request.effort is not None else None
    fields: dict[str, Any] = {}
    thinking = _thinking(request, model, effort)
    if thinking is not None:
        fields["thinking"] = thinking
    if effort is not None:
        fields["output_config"] = {"effort": effort}
    return fields


def budget(request: ModelRequest, model: Model) -> int:
    """Return the tokens that are set aside for thinking, which are part of the answer's limit; 0 for none."""
    if not isinstance(request.thinking, int) or request.thinking <= 0 or not _takes(model, "enabled"):
        return 0
    return min(max(request.thinking, LEAST_BUDGET), model.info.max_output // 2)


def nearest(wanted: Effort, levels: Sequence[Effort]) -> Effort | None:
    """Return the level itself, else the highest below it, else the lowest; None where there are none."""
    below = [level for level in levels if EFFORTS.index(level) <= EFFORTS.index(wanted)]
    return below[-1] if below else levels[0] if levels else None


def _thinking(request: ModelRequest, model: Model, effort: Effort | None) -> dict[str, Any] | None:
    tokens = budget(request, model)
    if tokens:
        return {"type": "enabled", "budget_tokens": tokens}
    if request.thinking in ("disabled", 0):
        return _without(model, effort or model.info.effort)
    # A budget that the model does not take is for the service to choose.
    if not _takes(model, "adaptive") or (request.thinking is None and not model.thinks):
        return None
    return {"type": "adaptive", "display": "summarized"} if model.hides else {"type": "adaptive"}


def _without(model: Model, effort: Effort | None) -> dict[str, Any] | None:
    """Return what comes nearest to not thinking at all; some models can't be told, and others not at high levels."""
    if effort is not None and effort not in _UP_TO_HIGH and model.hides:
        return None
    kind = next((kind for kind in ("disabled", "between_tools") if _takes(model, kind)), None)
    return {"type": kind} if kind is not None else None


def _takes(model: Model, kind: str) -> bool:
    """Whether a model takes a type of thinking; what an unknown one takes is for the service to say."""
    return kind in model.thinking or (not model.thinking and kind != "between_tools")
