"""Running the search program: its output so far is there at any time, and there is an end to how much and how long."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from toolpost import ToolFailed

if TYPE_CHECKING:
    from toolpost import ToolContext

MOST_ERRORS = 100_000


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

    @property
    def is_full(self) -> bool:
        """Whether there is as much as is kept."""
        return len(self.data) == self._most

    def take(self, piece: bytes) -> bool:
        """Keep a piece, up to the limit; return whether there is room for more."""
        if not self.data:
            self._on_first(piece)
        self.data += piece[: self._most - len(self.data)]
        return not self.is_full


async def run(argv: list[str], folder: Path, seconds: float, output: Output, ctx: ToolContext) -> Ended:
    """Run to the end, the limits or the abort (raises Aborted)."""
    try:
        ended = await ctx.processes.run(
            argv,
            cwd=folder,
            env=ctx.env or None,
            timeout=seconds,
            max_output=MOST_ERRORS,
            abort=ctx.abort,
            on_output=output.take,
        )
    except OSError as error:
        raise ToolFailed(f"Can't search {folder}: {error.strerror or error}.") from None
    return Ended(ended.returncode, bytes(output.data), ended.errors, ended.timed_out, output.is_full)
