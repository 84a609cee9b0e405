"""How an answer is called off, and what is kept of one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from typing import Any, TypeAlias, cast

from toolpost.providers import InputDelta, StreamEvent, TextDelta, ThinkingDelta

Stopping: TypeAlias = Callable[[AsyncIterator[StreamEvent]], Awaitable[float]]
"""Lets an answer begin, calls it off, and returns how many seconds it took to its end."""


async def close(stream: AsyncIterator[StreamEvent]) -> float:
    """Close an answer after its first event."""
    # An async generator has `aclose`; a class of the author's own must too, or nobody could end the request.
    async with aclosing(cast("Any", stream)):
        await anext(stream)
        began = time.monotonic()
    return time.monotonic() - began


async def cancel(stream: AsyncIterator[StreamEvent]) -> float:
    """Cancel the task that reads an answer, after its first event."""
    begun = asyncio.Event()

    async def read() -> None:
        try:
            async for _ in stream:
                begun.set()
        finally:
            begun.set()

    reading = asyncio.create_task(read())
    await begun.wait()
    began = time.monotonic()
    reading.cancel()
    with suppress(asyncio.CancelledError):
        await reading
    return time.monotonic() - began


def kept(events: Sequence[StreamEvent]) -> list[object]:
    """Return what stays of an answer: its texts put together, and everything that is not for showing only."""
    held: list[object] = []
    for event in events:
        if isinstance(event, TextDelta):
            if held and isinstance(held[-1], str):
                event = TextDelta(str(held.pop()) + event.text)
            held.append(event.text)
        elif not isinstance(event, ThinkingDelta | InputDelta):
            held.append(event)
    return held
