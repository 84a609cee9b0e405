"""Standard output for the run alone: what anything else prints meanwhile goes to standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from . import pipes


@contextmanager
def private_stdout() -> Iterator[int | None]:
    """Lend a descriptor of standard output that nothing else writes to; None where there is no standard output.

    `print` in a plugin, and what it or a process that it starts writes to descriptor 1, would end up between the lines of
    the run.
    """
    stream, fd, other = sys.stdout, pipes.descriptor(sys.stdout), pipes.descriptor(sys.stderr)
    if fd is None or other is None:
        yield fd
        return
    stream.flush()
    own = os.dup(fd)
    try:
        os.dup2(other, fd, inheritable=True)
        sys.stdout = sys.stderr
        yield own
    finally:
        sys.stdout = stream
        with suppress(OSError):
            stream.flush()  # whoever kept the stream printed into its buffer
        os.dup2(own, fd, inheritable=True)
        os.close(own)
