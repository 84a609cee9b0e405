"""The lines of standard input, read without holding up the event loop."""

from __future__ import annotations

import asyncio
import os
import sys
from select import select
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import Future


class Lines:
    """What is typed, line by line."""

    def __init__(self) -> None:
        self._fd = None if sys.stdin is None or sys.stdin.closed else sys.stdin.fileno()
        self._pending = b""
        self._waiting: Future[None] | None = None

    async def next(self) -> str | None:
        """Return the next line without its end; None at EOF."""
        while self._fd is not None and b"\n" not in self._pending:
            await self._readable(self._fd)
            if self._fd is not None:
                self._take(self._fd)
        if not self._pending:
            return None
        line, _, self._pending = self._pending.partition(b"\n")
        return _decoded(line)

    def arrived(self) -> list[str]:
        """Return the whole lines that are there already, without waiting for more."""
        if self._fd is not None and select([self._fd], [], [], 0)[0]:
            self._take(self._fd)
        *whole, self._pending = self._pending.split(b"\n")
        return [_decoded(line) for line in whole]

    def end(self) -> None:
        """Take no more lines."""
        self._fd, self._pending = None, b""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def _take(self, fd: int) -> None:
        try:
            data = os.read(fd, 65536)
        except OSError:
            data = b""
        if not data:
            self._fd = None
        self._pending += data

    async def _readable(self, fd: int) -> None:
        loop = asyncio.get_running_loop()
        waiting = self._waiting = loop.create_future()

        def ready() -> None:
            if not waiting.done():
                waiting.set_result(None)

        try:
            loop.add_reader(fd, ready)
        except (PermissionError, NotImplementedError):  # a file, which is always ready
            return
        try:
            await waiting
        finally:
            loop.remove_reader(fd)


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "replace").removesuffix("\r")
