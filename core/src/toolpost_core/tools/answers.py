"""What listeners answer to what becomes of a call, and how long they are waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from toolpost import Aborted
from toolpost_core.tools.watched import watched

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from toolpost import AbortSignal
    from toolpost.events._base import BlockOutcome, Outcome

T = TypeVar("T")
HEARD_GRACE: Final = 0.05
"""Seconds that listeners have after an abort to answer to what happened already."""


async def heard(telling: Coroutine[Any, Any, T | None], abort: AbortSignal) -> T | None:
    """Return what listeners answer to what happened already; an abort does not wait for them."""
    try:
        return await watched(telling, abort, grace=HEARD_GRACE, patience=0.0)
    except Aborted:
        return None


def notes_of(outcome: BlockOutcome | None) -> list[str]:
    """Return what a listener wants the model to read of a failure."""
    return [] if outcome is None else [note for note in (outcome.reason, outcome.additional_context) if note]


def stop_of(outcome: Outcome | None) -> str | None:
    """Return why a listener ends the turn, if it does."""
    return (outcome.stop_reason or "a hook ended the turn") if outcome is not None and outcome.stop else None
