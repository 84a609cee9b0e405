"""Sending a request again after a failure that may pass."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from toolpost import ProviderError, Retrying, StreamEvent

from .errors import LONGEST_WAIT

if TYPE_CHECKING:
    from toolpost import ModelRequest

FIRST_WAIT: Final = 0.5
LONGEST_BACK_OFF: Final = 32.0
BEFORE_A_FALLBACK: Final = 3
"""Retries of an overloaded model before another one is asked."""


@dataclass(frozen=True)
class Retries:
    """How often a request is sent again at most, and how often of that because the model is overloaded."""

    most: int
    overloads: int

    @classmethod
    def of(cls, request: ModelRequest, most: int) -> Retries:
        """Return what is worth to try: a side question gives way to those that somebody waits for."""
        if request.purpose != "main":
            return cls(most, 0)
        return cls(most, min(most, BEFORE_A_FALLBACK) if request.has_fallback else most)


async def with_retries(ask: Callable[[], AsyncGenerator[StreamEvent]], retries: Retries) -> AsyncGenerator[StreamEvent]:
    """Yield an answer's events; ask again, after a visible `Retrying`, while nothing of an answer was yielded."""
    overloads = 0
    for attempt in range(1, retries.most + 2):
        begun = False
        try:
            async with aclosing(ask()) as events:
                async for event in events:
                    begun = True
                    yield event
            return
        except ProviderError as error:
            if begun or not error.retriable or (error.retry_after or 0) > LONGEST_WAIT:
                raise
            overloads += error.kind == "overloaded"
            left = retries.overloads - overloads if error.kind == "overloaded" else retries.most - attempt
            if left < 0 or attempt > retries.most:
                raise
            failed = error
        delay = wait_before(attempt, failed.retry_after)
        yield Retrying(attempt, min(retries.most, attempt + left), delay, str(failed), failed.status)
        await asyncio.sleep(delay)


def wait_before(attempt: int, asked_for: float | None) -> float:
    """Return the seconds to wait before a retry: what the service asked for, else twice as long each time."""
    if asked_for is not None:
        return asked_for
    import random

    # Spread, so that those who failed together do not come back together.
    return min(FIRST_WAIT * 2.0 ** (attempt - 1), LONGEST_BACK_OFF) * random.uniform(0.75, 1.0)
