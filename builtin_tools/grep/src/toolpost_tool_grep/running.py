"""Running the search program: its output so far is there at any time, and there is an end to how much and how long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from toolpost import ToolFailed

if TYPE_CHECKING:
    from toolpost import Process, ToolContext

MOST_ERRORS = 100_000
GRACE = 5.0
"""Seconds that a program has to end after it was told to."""


class Ended(NamedTuple):
    """How a search ended: by itself, at the time limit, or `cut` because there was too much output."""

    returncode: int
    output: bytes
    errors: bytes
    timed_out: bool
    cut: bool


class Output:
    """What a search printed so far; `on_first` is told once, of the first output."""

    def __init__(self, most: int, on_first: Callable[[bytes], None]) -> None:
        self.data = bytearray()
        self._most, self._on_first = most, on_first

    async def fill(self, process: Process) -> bool:
        """Keep output up to the limit; return whether there was more."""
        while data := await process.read():
            if not self.data:
                self._on_first(data)
            self.data += data[: self._most - len(self.data)]
            if len(self.data) == self._most:
                return True
        return False


async def run(argv: list[str], folder: Path, seconds: float, output: Output, ctx: ToolContext) -> Ended:
    """Run to the end, the limits or the abort (raises Aborted)."""
    ctx.abort.raise_if_aborted()
    try:
        process = await ctx.processes.start(argv, cwd=folder, env=ctx.env or None)
    except OSError as error:
        raise ToolFailed(f"Can't search {folder}: {error.strerror or error}.") from None
    errors = asyncio.create_task(_errors(process))
    reading = asyncio.create_task(output.fill(process))
    aborted = asyncio.create_task(ctx.abort.wait())
    try:
        done, _ = await asyncio.wait({reading, aborted}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        ctx.abort.raise_if_aborted()
        cut = reading in done and reading.result()
        if cut or not done:
            await process.stop(grace=GRACE)
        return Ended(await process.wait(), bytes(output.data), await errors, not done, cut)
    finally:
        for task in (reading, aborted, errors):
            task.cancel()
        if process.returncode is None:
            await process.stop()


async def _errors(process: Process) -> bytes:
    kept = b""
    while data := await process.read_errors():
        kept += data[: MOST_ERRORS - len(kept)]
    return kept
