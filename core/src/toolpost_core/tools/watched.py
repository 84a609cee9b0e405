"""Work that an abort ends."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, TypeVar

from toolpost import Aborted
from toolpost_core.events.isolation import is_own

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from toolpost import AbortSignal

T = TypeVar("T")
GRACE: Final = 0.1
"""Seconds that work has to end by itself after an abort, where what it came to is worth having."""
LAST_GRACE: Final = 2.0
"""Seconds that cancelled work has to end; what takes no notice is left behind, and its result with it."""


async def watched(
    work: Coroutine[Any, Any, T], abort: AbortSignal, *, grace: float = 0.0, patience: float | None = None
) -> T:
    """Await work to its end; after an abort it has `grace` seconds to end by itself before it is cancelled.

    What it returns all the same counts. Cancelled work is waited for `patience` seconds, by default LAST_GRACE. Raises
    Aborted where it was cancelled or had to be left behind, RuntimeError for what would have ended the program.
    """
    task, watch = asyncio.ensure_future(_tame(work)), asyncio.ensure_future(abort.wait())
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done() and grace:
            await asyncio.wait({task}, timeout=grace)
    finally:
        watch.cancel()
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=LAST_GRACE if patience is None else patience)
    if not task.done():
        task.add_done_callback(_forget)
    if not task.done() or task.cancelled():
        raise Aborted(abort.reason or "engine_stop")
    return task.result()


def _forget(task: asyncio.Task[Any]) -> None:
    """Take what a task that was left behind came to, so that nobody is told of it as lost."""
    if not task.cancelled():
        task.exception()


async def _tame(work: Coroutine[Any, Any, T]) -> T:
    """Turn what a task must not raise into an error: SystemExit would end the loop, another's cancelling look like ours."""
    try:
        return await work
    except BaseException as error:
        if isinstance(error, Exception) or not is_own(error):
            raise
        if isinstance(error, asyncio.CancelledError):
            raise RuntimeError("it ended with CancelledError, and nobody had called it off") from error
        raise RuntimeError(f"{type(error).__name__}: {error}") from error
