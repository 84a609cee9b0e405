"""What is piped in, as part of the prompt."""

from __future__ import annotations

import os
import select
import stat
import sys
from typing import Final

from toolpost_core.cli.exits import complain
from toolpost_core.cli.usage import UsageMistake

LIMIT: Final = 10 * 1024 * 1024
PATIENCE: Final = 3.0
"""Seconds that a pipe has to show its first byte where there is a prompt already: some callers leave one open, unused."""


def piped_text(*, have_prompt: bool) -> str:
    """Return standard input's text; empty where it is a terminal, closed, or an open pipe in which nothing comes.

    Raises UsageMistake where it is more than 10 MB.
    """
    descriptor = _descriptor()
    if descriptor is None or os.isatty(descriptor):
        return ""
    if have_prompt and not _shows_something(descriptor):
        complain(f"nothing came from standard input within {PATIENCE:.0f} s; going on without it (use < /dev/null)")
        return ""
    data = bytearray()
    while chunk := os.read(descriptor, 65536):
        data += chunk
        if len(data) > LIMIT:
            megabytes = LIMIT // 1024 // 1024
            raise UsageMistake(f"Standard input has more than {megabytes} MB. Write it to a file and name that.")
    return data.decode("utf-8", "replace")


def is_interactive() -> bool:
    """Whether a person sits at both ends."""
    descriptor = _descriptor()
    reads = descriptor is not None and os.isatty(descriptor)
    return reads and sys.stdout is not None and not sys.stdout.closed and sys.stdout.isatty()


def _descriptor() -> int | None:
    """The number of standard input, if there is one that can be read."""
    if sys.stdin is None or sys.stdin.closed:
        return None
    try:
        descriptor = sys.stdin.fileno()
        mode = os.fstat(descriptor).st_mode
    except (OSError, ValueError):
        return None
    return None if stat.S_ISDIR(mode) else descriptor


def _shows_something(descriptor: int) -> bool:
    """Whether there is something to read, or the end, in good time; a file always has one or the other."""
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return True
    readable, _, _ = select.select([descriptor], [], [], PATIENCE)
    return bool(readable)
