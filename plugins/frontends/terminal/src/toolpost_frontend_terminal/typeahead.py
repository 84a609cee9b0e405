"""Keeps what is typed before the input line is there, as it was typed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept(fd: int) -> Iterator[str]:
    """Have the terminal neither echo nor edit what is typed from now on; as it was before, in the end.

    Gives what was typed until now, with line ends as `\\n`.

    Loading what draws the input line takes a good part of a second. Enter would come out of it as a line feed, which
    is another key.
    """
    try:
        import termios
    except ImportError:  # Windows, whose console keeps keys as they are
        yield ""
        return
    try:
        before = termios.tcgetattr(fd)
    except termios.error:
        yield ""
        return
    now = [*before]
    now[0] &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR)
    now[3] &= ~(termios.ECHO | termios.ICANON)
    try:
        termios.tcsetattr(fd, termios.TCSANOW, now)
        yield _waiting(fd).decode("utf-8", "replace")
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)


def _waiting(fd: int) -> bytes:
    """Take what the terminal holds already, without waiting for more."""
    from select import select

    taken = b""
    while select([fd], [], [], 0)[0]:
        data = os.read(fd, 4096)
        taken += data
        if not data:
            break
    return taken
