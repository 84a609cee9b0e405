"""Running the program that lists files, and matching its names while it runs."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from toolpost import ToolFailed

from . import find

if TYPE_CHECKING:
    from toolpost import Process, ToolContext

MOST_ERRORS = 100_000
GRACE = 5.0
"""Seconds that a program has to end after it was told to."""


class Ended(NamedTuple):
    """How a listing ended: at the time limit, or `cut` because there was too much."""

    timed_out: bool
    cut: bool
    errors: bytes


class NamesInPieces:
    """Takes output in which each name ends with a NUL; `on_first` is told once, after the first matches."""

    def __init__(self, matches: find.Matches, on_first: Callable[[], None]) -> None:
        self._matches, self._on_first = matches, on_first
        self._rest = b""
        self._told = False

    def take(self, data: bytes) -> None:
        """Match the names that are whole; the last one waits for its end."""
        whole, _, self._rest = (self._rest + data).rpartition(b"\0")
        if whole:
            self._matches.take(os.fsdecode(whole).split("\0"))

    @property
    def has_news(self) -> bool:
        """Whether there are matches and nobody was told yet."""
        return not self._told and len(self._matches) > 0

    def tell(self) -> None:
        """Tell of the first matches, once."""
        if self.has_news:
            self._told = True
            self._on_first()


async def run(argv: list[str], folder: Path, pieces: NamesInPieces, ctx: ToolContext) -> Ended:
    """Run to the end, the time limit or the abort (raises Aborted); a thread matches beside it."""
    ctx.abort.raise_if_aborted()
    try:
        process = await ctx.processes.start(argv, cwd=folder, env=ctx.env or None)
    except OSError as error:
        raise ToolFailed(f"Can't search {folder}: {error.strerror or error}.") from None
    queue: SimpleQueue[bytes] = SimpleQueue()
    matching = asyncio.create_task(asyncio.to_thread(_match, queue, pieces, asyncio.get_running_loop()))
    errors = asyncio.create_task(_errors(process))
    reading = asyncio.create_task(_read(process, queue))
    aborted = asyncio.create_task(ctx.abort.wait())
    try:
        done, _ = await asyncio.wait({reading, aborted}, timeout=find.SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if reading not in done or reading.result():
            await process.stop(grace=0 if aborted in done else GRACE)
        ctx.abort.raise_if_aborted()
        await process.wait()
        return Ended(not done, reading in done and reading.result(), await errors)
    finally:
        queue.put(b"")
        for task in (reading, aborted, errors):
            task.cancel()
        if process.returncode is None:
            await process.stop()
        await asyncio.shield(matching)
        pieces.tell()


def _match(queue: SimpleQueue[bytes], pieces: NamesInPieces, loop: asyncio.AbstractEventLoop) -> None:
    while data := queue.get():
        pieces.take(data)
        if pieces.has_news:
            loop.call_soon_threadsafe(pieces.tell)


async def _read(process: Process, queue: SimpleQueue[bytes]) -> bool:
    """Hand over the output; return whether there was too much of it."""
    size = 0
    while data := await process.read():
        queue.put(data)
        size += len(data)
        if size > find.MOST_OUTPUT:
            return True
    return False


async def _errors(process: Process) -> bytes:
    kept = b""
    while data := await process.read_errors():
        kept += data[: MOST_ERRORS - len(kept)]
    return kept
