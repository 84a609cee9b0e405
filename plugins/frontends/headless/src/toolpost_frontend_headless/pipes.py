"""Standard input and output without blocking the event loop, whatever stands at their other end."""

from __future__ import annotations

import asyncio
import os
import select
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from asyncio import Future

# A pipe that polls as writable takes this many bytes at once (POSIX), so that the write can't block.
_CHUNK = getattr(select, "PIPE_BUF", 512)


def descriptor(stream: TextIO | None) -> int | None:
    """Return the stream's file descriptor; None where the program was started with it closed."""
    return None if stream is None or stream.closed else stream.fileno()


async def write(fd: int, data: bytes) -> None:
    """Write all of `data`, waiting for a slow reader; raises BrokenPipeError where the reader is gone."""
    rest = memoryview(data)
    while rest:
        if not _is_ready(fd, "POLLOUT"):
            await _until(asyncio.get_running_loop().add_writer, asyncio.get_running_loop().remove_writer, fd)
        try:
            rest = rest[os.write(fd, rest[:_CHUNK]) :]
        except BlockingIOError:
            await asyncio.sleep(0)


async def lines(fd: int | None) -> AsyncIterator[bytes]:
    """Yield each line without its end, the last one too where it has none; ends at EOF."""
    pending = bytearray()
    while fd is not None:
        if not _is_ready(fd, "POLLIN"):
            await _until(asyncio.get_running_loop().add_reader, asyncio.get_running_loop().remove_reader, fd)
        try:
            data = os.read(fd, 65536)
        except BlockingIOError:
            continue
        except OSError:
            break
        if not data:
            break
        *complete, rest = data.split(b"\n")
        for line in complete:
            yield bytes(pending + line)
            pending.clear()
        pending += rest
    if pending:
        yield bytes(pending)


def _is_ready(fd: int, event: str) -> bool:
    """Whether the descriptor can be used at once; files always can, and so can what can't be polled (Windows)."""
    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    poll.register(fd, getattr(select, event))
    return bool(poll.poll(0))


async def _until(add: Callable[..., None], remove: Callable[[int], bool], fd: int) -> None:
    ready: Future[None] = asyncio.get_running_loop().create_future()

    def arrived() -> None:
        if not ready.done():
            ready.set_result(None)

    add(fd, arrived)
    try:
        await ready
    finally:
        remove(fd)
