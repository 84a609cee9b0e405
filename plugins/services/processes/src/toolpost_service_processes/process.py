"""`LocalProcess`: one running program, read and waited for on the event loop without threads."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Callable
from typing import IO, Final

from .tree import end_tree, group_lives, kill_group

_READ_OUT_SECONDS: Final = 0.1
"""How long who reads has for what a process wrote last, where something that we can't end holds its pipe open."""


class LocalProcess:
    """A running process, the leader of its session; `ended` is called once it has been waited for."""

    def __init__(self, child: subprocess.Popen[bytes], mark: str, ended: Callable[[LocalProcess], None]) -> None:
        self._child = child
        self._mark = mark
        self._ended = ended
        self._output = _Pipe(child.stdout) if child.stdout else None
        self._errors = _Pipe(child.stderr) if child.stderr else None
        self._input = _Pipe(child.stdin) if child.stdin else None
        self._waiting: asyncio.Task[int] | None = None
        self._group_ended = False

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
        return await self._output.read(limit) if self._output is not None else b""

    async def read_errors(self, limit: int = 65536) -> bytes:
        """The same for standard error, unless that was merged into the output."""
        return await self._errors.read(limit) if self._errors is not None else b""

    async def write(self, data: bytes) -> None:
        """Write to standard input and wait until it went out; raises BrokenPipeError where nobody reads it."""
        if self._input is None:
            raise ValueError("The process was started without stdin=True.")
        await self._input.write(data)

    async def close_input(self) -> None:
        """Close standard input."""
        if self._input is not None:
            self._input.close()

    async def wait(self) -> int:
        """Wait for the end and return the exit code; several may wait."""
        if self._child.returncode is None:
            if self._waiting is None:
                self._waiting = asyncio.create_task(self._wait())
            await asyncio.shield(self._waiting)
        return self._child.returncode or 0

    async def stop(self, *, grace: float = 0.0, group: int | None = None) -> None:
        """End it and all that it started: SIGINT, SIGTERM at half of `grace` seconds, SIGKILL after all. Never raises.

        SIGINT and SIGTERM are sent to `group` instead of the process's own.
        """
        told = self.pid if group is None else group
        for polite in (signal.SIGINT, signal.SIGTERM):
            if grace > 0 and not self._group_ended and group_lives(told):
                kill_group(told, polite)
                await self._group_gone(told, grace / 2)
        await end_tree(None if self._group_ended else self.pid, self._mark)
        with contextlib.suppress(TimeoutError):
            # A process that the kernel holds (a dead network file system) can't be waited for.
            async with asyncio.timeout(5):
                await self.wait()
        for pipe in (self._output, self._errors):
            if pipe is not None:
                await pipe.read_out(_READ_OUT_SECONDS)
        self.close()

    async def _group_gone(self, group: int, seconds: float) -> None:
        """Wait until a group is empty, at most so long: the leader's end alone leaves others no time for theirs.

        A group other than its own is one that the process holds, and is gone with it.
        """
        reaping, loop = asyncio.create_task(self.wait()), asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while group_lives(group) and loop.time() < deadline:
            if group != self.pid and reaping.done():
                break
            await asyncio.sleep(0.005)
        reaping.cancel()

    def close(self) -> None:
        """Close the pipes; what still writes to them gets SIGPIPE. The process is not touched."""
        for pipe in (self._output, self._errors, self._input):
            if pipe is not None:
                pipe.close()

    async def _wait(self) -> int:
        await _exit_of(self._child)
        # From now on the number of an empty group may become another's.
        self._group_ended = not group_lives(self.pid)
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
    """Our end of a pipe, read or written without blocking; closing it wakes who waits for it."""

    def __init__(self, stream: IO[bytes]) -> None:
        os.set_blocking(stream.fileno(), False)
        self._stream = stream
        self._reading = 0
        self._watch: tuple[Callable[[int], object], asyncio.Future[None]] | None = None

    async def read(self, limit: int) -> bytes:
        """Return what is there, waiting for it; empty at the end, which closes our end too."""
        self._reading += 1
        try:
            data = await self._next(limit)
            # A writer that is faster than we are must not keep everybody else waiting.
            await asyncio.sleep(0)
        finally:
            self._reading -= 1
        return data

    async def read_out(self, seconds: float) -> None:
        """Let who is reading come to the end of what was written, at most so long."""
        deadline = asyncio.get_running_loop().time() + seconds
        while self._reading and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110 - for a moment only
            await asyncio.sleep(0.001)

    async def _next(self, limit: int) -> bytes:
        loop = asyncio.get_running_loop()
        while not self._stream.closed:
            try:
                data = os.read(self._stream.fileno(), limit)
            except BlockingIOError:
                await self._ready(loop.add_reader, loop.remove_reader)
                continue
            if not data:
                self.close()
            return data
        return b""

    async def write(self, data: bytes) -> None:
        """Write all of it; raises BrokenPipeError where nobody reads."""
        loop = asyncio.get_running_loop()
        view = memoryview(data)
        while view:
            if self._stream.closed:
                raise BrokenPipeError("the process's input is closed")
            try:
                view = view[os.write(self._stream.fileno(), view) :]
            except BlockingIOError:
                await self._ready(loop.add_writer, loop.remove_writer)

    def close(self) -> None:
        """Close our end."""
        self._look_again()
        with contextlib.suppress(OSError):
            self._stream.close()

    async def _ready(self, add: Callable[..., object], remove: Callable[[int], object]) -> None:
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._watch = remove, waiting
        add(self._stream.fileno(), _settle, waiting)
        try:
            await waiting
        finally:
            self._look_again()

    def _look_again(self) -> None:
        """Watch the pipe no longer, which must end before it is closed, and wake who waits for it."""
        if self._watch is not None:
            (remove, waiting), self._watch = self._watch, None
            remove(self._stream.fileno())
            _settle(waiting)


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
