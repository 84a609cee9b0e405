"""Flags: what marks a process where its environment was emptied, its session left and its parent gone."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

PREFIX: Final = "toolpost-"
_LOWEST: Final = 200
"""Flags have numbers from here on, where no script of a person's looks for free ones."""
_SEARCHED: Final = range(_LOWEST, _LOWEST + 8)


@contextmanager
def flag(mark: str) -> Iterator[tuple[int, ...]]:
    """Open a flag for one start: a descriptor to be inherited, of an empty file in memory that is named for the mark.

    Unlike a variable it is passed on whatever a program does but for closing it. Empty where there is no such thing.
    """
    if sys.platform != "linux":
        yield ()
        return
    import fcntl

    made = -1
    with contextlib.suppress(OSError):
        first = os.memfd_create(f"{PREFIX}{mark}")
        try:
            made = fcntl.fcntl(first, fcntl.F_DUPFD_CLOEXEC, _LOWEST)
        finally:
            os.close(first)
    try:
        yield (made,) if made >= 0 else ()
    finally:
        if made >= 0:
            os.close(made)


def carries(pid: str, mark: str) -> bool:
    """Whether a process has a flag whose mark begins so."""
    for number in _SEARCHED:
        try:
            target = os.readlink(f"/proc/{pid}/fd/{number}")  # noqa: PTH115 - a third of the time of a Path each
        except OSError:
            return False
        if target.startswith(f"/memfd:{PREFIX}{mark}"):
            return True
    return False
