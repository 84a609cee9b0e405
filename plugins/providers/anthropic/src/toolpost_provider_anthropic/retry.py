"""Sending a request again after a failure that may pass."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final

from toolpost import ProviderError, Retrying, StreamEvent

LONGEST_WAIT: Final = 120.0
"""Seconds; who is asked to wait longer wants to know instead."""
FIRST_WAIT: Final = 0.5
LONGEST_BACK_OFF: Final = 32.0


async def with_retries(ask: Callable[[], AsyncGenerator[StreamEvent]], retries: int) -> AsyncGenerator[StreamEvent]:
    """Yield an answer's events; ask again, after a visible `Retrying`, while nothing of an answer was yielded."""
    for attempt in range(1, retries + 2):
        begun = False
        try:
            async with aclosing(ask()) as events:
                async for event in events:
                    begun = True
                    yield event
            return
        except ProviderError as error:
            if begun or not error.retriable or attempt > retries or (error.retry_after or 0) > LONGEST_WAIT:
                raise
            failed = error
        delay = wait_before(attempt, failed.retry_after)
        yield Retrying(attempt, retries, delay, str(failed), failed.status)
        await asyncio.sleep(delay)


def wait_before(attempt: int, asked_for: float | None) -> float:
    """Return the seconds to wait before a retry: what the service asked for, else twice as long each time."""
    if asked_for is not None:
        return asked_for
    import random

    # Spread, so that those who failed together do not come back together.
    return min(FIRST_WAIT * 2.0 ** (attempt - 1), LONGEST_BACK_OFF) * random.uniform(0.75, 1.0)
