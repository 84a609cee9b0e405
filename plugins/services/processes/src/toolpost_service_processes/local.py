"""`LocalProcesses`: programs of this machine, each in a session of its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from toolpost.errors import Aborted
from toolpost.services import Finished

from .limit import limited
from .process import LocalProcess
from .tree import MARK, end_marked, group_lives, kill_group
from .watchdog import Watchdog

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from toolpost.context import AbortSignal

    _Read = Callable[[int], Awaitable[bytes]]

# How long output may still come once the program itself has ended: others may hold its pipe open for ever.
_DRAIN_SECONDS = 0.1


class LocalProcesses:
    """The `Processes` of one session; `aclose` ends all that is left of what it started."""

    def __init__(self) -> None:
        # Digits, since the limit that marks a process is a number; its first part tells one session from another.
        self._mark = str(secrets.randbelow(9 * 10**9) + 10**9)
        self._count = 0
        self._running: set[LocalProcess] = set()
        self._left: set[int] = set()
        self._watchdog: Watchdog | None = None

    async def start(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        stdin: bool = False,
        merge_errors: bool = False,
        pass_fds: Sequence[int] = (),
    ) -> LocalProcess:
        """Start a program as the leader of a session of its own; raises OSError where it or the folder is not there."""
        if self._watchdog is None:
            # Before the first child: a kill of ours right behind that child's start would leave it to nobody.
            self._watchdog = Watchdog(self._mark)
        self._count += 1
        mark = f"{self._mark}{self._count:08}"
        with limited(mark):
            child = subprocess.Popen(  # noqa: ASYNC220 - forks with vfork in about a millisecond; a thread would cost more
                list(argv),
                cwd=cwd,
                env={**(os.environ if env is None else env), MARK: mark},
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if merge_errors else subprocess.PIPE,
                pass_fds=tuple(pass_fds),
                start_new_session=True,
                bufsize=0,
            )
        process = LocalProcess(child, mark, self._ended)
        self._running.add(process)
        self._watchdog.note(child.pid)
        return process

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        input: bytes | None = None,
        timeout: float | None = None,
        max_output: int = 10_000_000,
        merge_errors: bool = False,
        abort: AbortSignal | None = None,
        on_output: Callable[[bytes], bool] | None = None,
        pass_fds: Sequence[int] = (),
    ) -> Finished:
        """Run a program to its end, its time-out or the abort; output over `max_output` bytes is counted, not kept."""
        if abort is not None:
            abort.raise_if_aborted()
        process = await self.start(
            argv, cwd=cwd, env=env, stdin=input is not None, merge_errors=merge_errors, pass_fds=pass_fds
        )
        taken = None if on_output is None else _Handed(process, on_output)
        outputs = (taken or _Kept(process.read, max_output), _Kept(process.read_errors, max_output))
        work = asyncio.create_task(_to_the_end(process, input, outputs))
        watch = asyncio.create_task(abort.wait()) if abort is not None else None
        timed_out = False
        try:
            done, _ = await asyncio.wait(
                {work, watch} if watch else {work}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
            )
            timed_out = not done
            if watch is not None and work not in done and not timed_out:
                raise Aborted(watch.result())
            if not timed_out:
                work.result()
        finally:
            if not work.done():
                await asyncio.shield(asyncio.create_task(process.stop()))
                if timed_out:
                    await work
            for task in (work, watch):
                if task is not None:
                    task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await work
            process.close()
        if taken is not None and taken.error is not None:
            raise taken.error
        output, errors = outputs
        dropped = output.dropped + errors.dropped
        return Finished(process.returncode or 0, bytes(output.data), bytes(errors.data), timed_out, dropped)

    async def aclose(self) -> None:
        """End everything that is left, also what moved to a session of its own; may be called twice."""
        for process in tuple(self._running):
            await process.stop()
            process.close()
        for group in self._left:
            kill_group(group)
        self._left.clear()
        if self._count:
            await end_marked(self._mark)
        if self._watchdog is not None:
            self._watchdog.close()
            self._watchdog = None

    def _ended(self, process: LocalProcess) -> None:
        """A leader ended: remember its group if something in it lives on."""
        self._running.discard(process)
        if group_lives(process.pid):
            self._left.add(process.pid)
        elif self._watchdog is not None:
            self._watchdog.forget(process.pid)


class _Kept:
    """Output up to a limit, and how much more there was."""

    def __init__(self, read: _Read, limit: int) -> None:
        self.read, self.limit = read, limit
        self.data = bytearray()
        self.dropped = 0

    async def fill(self) -> None:
        """Read to the end, keeping what fits."""
        while chunk := await self.read(65536):
            room = self.limit - len(self.data)
            self.data += chunk[:room] if room > 0 else b""
            self.dropped += max(len(chunk) - max(room, 0), 0)


class _Handed:
    """Output that is handed on and not kept; `error` is what the one who takes it raised."""

    data = b""
    dropped = 0

    def __init__(self, process: LocalProcess, take: Callable[[bytes], bool]) -> None:
        self._process, self._take = process, take
        self.error: Exception | None = None

    async def fill(self) -> None:
        """Hand it on to the end, or end the process once no more is wanted."""
        while chunk := await self._process.read():
            if not self._is_more_wanted(chunk):
                await self._process.stop()
                return

    def _is_more_wanted(self, chunk: bytes) -> bool:
        try:
            return self._take(chunk)
        except Exception as error:
            self.error = error
            return False


async def _to_the_end(process: LocalProcess, data: bytes | None, outputs: Sequence[_Kept | _Handed]) -> None:
    """Feed and drain a process until it has ended and its output has, or nearly so."""
    reads = [asyncio.create_task(output.fill()) for output in outputs]
    feed = asyncio.create_task(_feed(process, data)) if data is not None else None
    try:
        await process.wait()
        await asyncio.wait(reads, timeout=_DRAIN_SECONDS)
    finally:
        for task in (*reads, feed):
            if task is not None:
                task.cancel()
        await asyncio.gather(*reads, *([feed] if feed else []), return_exceptions=True)


async def _feed(process: LocalProcess, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        await process.write(data)
    await process.close_input()
