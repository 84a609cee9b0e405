"""When a run counts as one that hangs: nothing came of it for long. On a busy machine a run is slow, and does not hang."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

LIMIT: Final = 90.0
"""Seconds in which something comes of any run: a request to the service."""
LOOKS: Final = 30
"""How often within that time it is looked at."""


@asynccontextmanager
async def while_it_goes_on(came: Callable[[], int], limit: float = LIMIT) -> AsyncIterator[None]:
    """Raise TimeoutError in what is inside where the number that `came` stays the same for `limit` seconds."""
    async with asyncio.timeout(limit) as until:
        looking = asyncio.create_task(_look(came, until, limit))
        try:
            yield
        finally:
            looking.cancel()


async def _look(came: Callable[[], int], until: asyncio.Timeout, limit: float) -> None:
    before = came()
    while True:
        await asyncio.sleep(limit / LOOKS)
        if (now := came()) != before:
            before = now
            until.reschedule(asyncio.get_running_loop().time() + limit)
