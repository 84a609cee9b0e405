"""The limit that marks a process: passed on whatever a program does with its environment, descriptors and session."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

LINE: Final = b"Max realtime timeout"
"""How the line in `/proc/PID/limits` begins."""


@contextmanager
def limited(mark: str) -> Iterator[None]:
    """Give ourselves a limit for the time of one start, so that the child has it; `mark` is a number of up to 18 digits.

    It is that of the time that a program with real-time scheduling may run without a pause, in microseconds: a mark is
    hundreds of years, so that it limits nothing. Where it can't be set the child goes without.
    """
    if sys.platform != "linux":
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_RTTIME)
    try:
        resource.setrlimit(resource.RLIMIT_RTTIME, (int(mark), before[1]))
    except (ValueError, OSError):
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_RTTIME, before)


def carries(limits: bytes, mark: bytes) -> bool:
    """Whether `/proc/PID/limits` has a mark that begins so."""
    _, found, rest = limits.partition(LINE)
    return bool(found) and rest.lstrip().startswith(mark)
