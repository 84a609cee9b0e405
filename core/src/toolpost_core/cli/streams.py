"""Standard output for what a command prints alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def own_stdout() -> Iterator[None]:
    """Make `sys.stdout` a stream that nobody else has; what goes to descriptor 1 in another way goes to standard error.

    A plugin may write to the descriptor as it is imported, or start a process that does; a document that is printed
    meanwhile must stay whole.
    """
    stream = sys.stdout
    try:
        fd, other = stream.fileno(), sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):
        yield
        return
    stream.flush()
    own = os.dup(fd)
    os.dup2(other, fd)
    private = os.fdopen(own, "w", encoding=stream.encoding, errors=stream.errors)
    private.reconfigure(line_buffering=bool(stream.line_buffering))
    sys.stdout = private
    try:
        yield
    finally:
        sys.stdout = stream
        with suppress(OSError):
            stream.flush()  # whoever kept the stream printed into its buffer
        os.dup2(own, fd)
        private.close()
