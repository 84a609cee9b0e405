"""Running the program that lists files, and matching its names while it runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

from toolpost import ToolFailed

if TYPE_CHECKING:
    from toolpost import Finished, ToolContext

    from .matches import Matches

MOST_ERRORS = 100_000
MOST_OUTPUT = 100_000_000


class Names:
    """The output of a listing, in which each name ends with a NUL; `on_first` is told once, after the first matches."""

    def __init__(self, matches: Matches, on_first: Callable[[], None]) -> None:
        self._matches, self._on_first = matches, on_first
        self._pieces: SimpleQueue[bytes] = SimpleQueue()
        self._size = 0
        self._told = False

    @property
    def is_cut(self) -> bool:
        """Whether there were more names than are taken."""
        return self._size > MOST_OUTPUT

    def take(self, piece: bytes) -> bool:
        """Hand a piece over to `match`; return whether another one may follow."""
        self._pieces.put(piece)
        self._size += len(piece)
        return not self.is_cut

    def end(self) -> None:
        """Say that no more follows."""
        self._pieces.put(b"")

    def match(self, loop: asyncio.AbstractEventLoop) -> None:
        """Match names until the end; it blocks, so it is run in a thread."""
        rest = b""
        while piece := self._pieces.get():
            whole, _, rest = (rest + piece).rpartition(b"\0")
            if whole:
                self._matches.take(whole.split(b"\0"))
            if len(self._matches) and not self._told:
                self._told = True
                loop.call_soon_threadsafe(self._on_first)


async def run(argv: list[str], folder: Path, names: Names, ctx: ToolContext, seconds: float) -> Finished:
    """Run to the end, the limits, `seconds` or the abort (raises Aborted); a thread matches beside it."""
    matching = asyncio.create_task(asyncio.to_thread(names.match, asyncio.get_running_loop()))
    try:
        return await ctx.processes.run(
            argv,
            cwd=folder,
            env=ctx.env or None,
            timeout=seconds,
            max_output=MOST_ERRORS,
            abort=ctx.abort,
            on_output=names.take,
        )
    except OSError as error:
        raise ToolFailed(f"Can't search {folder}: {error.strerror or error}.") from None
    finally:
        names.end()
        await asyncio.shield(matching)
