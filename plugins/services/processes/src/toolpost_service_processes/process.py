"""`LocalProcess`: one running program, read and waited for on the event loop without threads."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Callable
from typing import IO

from .tree import end_tree, kill_group


class LocalProcess:
    """A running process, the leader of its session; `ended` is called once it has been waited for."""

    def __init__(self, child: subprocess.Popen[bytes], mark: str, ended: Callable[[LocalProcess], None]) -> None:
        self._child = child
        self._mark = mark
        self._ended = ended
        self._output = _Pipe(child.stdout.fileno()) if child.stdout else None
        self._errors = _Pipe(child.stderr.fileno()) if child.stderr else None
        self._input = _Pipe(child.stdin.fileno()) if child.stdin else None
        self._waiting: asyncio.Task[int] | None = None

    @property
    def pid(self) -> int:
        """The process id."""
        return self._child.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while it runs or before anybody waited."""
        return self._child.returncode

    async def read(self, limit: int = 65536) -> bytes:
        """Return the next output; empty at the end of it."""
        return await self._read(self._output, self._child.stdout, limit)

    async def read_errors(self, limit: int = 65536) -> bytes:
        """The same for standard error, unless that was merged into the output."""
        return await self._read(self._errors, self._child.stderr, limit)

    async def _read(self, pipe: _Pipe | None, stream: IO[bytes] | None, limit: int) -> bytes:
        if pipe is None or stream is None or stream.closed:
            return b""
        data = await pipe.read(limit)
        if not data:
            stream.close()
        return data

    async def write(self, data: bytes) -> None:
        """Write to standard input and wait until it went out; raises BrokenPipeError where nobody reads it."""
        if self._input is None:
            raise ValueError("The process was started without stdin=True.")
        await self._input.write(data)

    async def close_input(self) -> None:
        """Close standard input."""
        if self._child.stdin is not None:
            self._child.stdin.close()

    async def wait(self) -> int:
        """Wait for the end and return the exit code; several may wait."""
        if self._child.returncode is None:
            if self._waiting is None:
                self._waiting = asyncio.create_task(self._wait())
            await asyncio.shield(self._waiting)
        return self._child.returncode or 0

    async def stop(self, *, grace: float = 0.0) -> None:
        """End the process and all that it started: SIGTERM, then after `grace` seconds SIGKILL. Never raises."""
        if grace > 0 and self._child.poll() is None:
            kill_group(self.pid, signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(grace):
                    await self.wait()
        await end_tree(self.pid, self._mark)
        with contextlib.suppress(TimeoutError):
            # A process that the kernel holds (a dead network file system) can't be waited for.
            async with asyncio.timeout(5):
                await self.wait()
        self.close()

    def close(self) -> None:
        """Close the pipes; what still writes to them gets SIGPIPE. The process is not touched."""
        for stream in (self._child.stdout, self._child.stderr, self._child.stdin):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    async def _wait(self) -> int:
        await _exit_of(self._child)
        self._ended(self)
        return self._child.returncode or 0


async def _exit_of(child: subprocess.Popen[bytes]) -> None:
    """Return once the child has ended and was reaped."""
    if child.poll() is not None:
        return
    loop = asyncio.get_running_loop()
    try:
        watched = os.pidfd_open(child.pid)
    except (AttributeError, OSError):
        await loop.run_in_executor(None, child.wait)
        return
    try:
        await _ready(loop.add_reader, loop.remove_reader, watched)
    finally:
        os.close(watched)
    child.wait()


class _Pipe:
    """Our end of a pipe, read or written without blocking."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd

    async def read(self, limit: int) -> bytes:
        loop = asyncio.get_running_loop()
        while True:
            try:
                return os.read(self._fd, limit)
            except BlockingIOError:
                await _ready(loop.add_reader, loop.remove_reader, self._fd)

    async def write(self, data: bytes) -> None:
        loop = asyncio.get_running_loop()
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._fd, view) :]
            except BlockingIOError:
                await _ready(loop.add_writer, loop.remove_writer, self._fd)


async def _ready(add: Callable[..., object], remove: Callable[[int], object], fd: int) -> None:
    ready = asyncio.get_running_loop().create_future()
    add(fd, _settle, ready)
    try:
        await ready
    finally:
        remove(fd)


def _settle(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
