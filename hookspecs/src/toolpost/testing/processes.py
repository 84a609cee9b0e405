"""`PlainProcesses`: the Processes service with real processes, as plain as a test needs it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from toolpost.errors import Aborted
from toolpost.services import Finished

if TYPE_CHECKING:
    from asyncio.subprocess import Process

    from toolpost.context import AbortSignal


class PlainProcesses:
    """Starts real processes, each in a group of its own; ends the group, but reaps nothing after a crash of its own."""

    async def start(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        stdin: bool = False,
        merge_errors: bool = False,
        pass_fds: Sequence[int] = (),
    ) -> PlainProcess:
        """Start a program."""
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=cwd,
            env=env,
            stdin=asyncio.subprocess.PIPE if stdin else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT if merge_errors else asyncio.subprocess.PIPE,
            pass_fds=tuple(pass_fds),
            start_new_session=True,
        )
        return PlainProcess(process)

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
        """Run a program to its end, its time-out or the abort."""
        process = await self.start(
            argv, cwd=cwd, env=env, stdin=input is not None, merge_errors=merge_errors, pass_fds=pass_fds
        )
        work = asyncio.create_task(
            process.communicate(input) if on_output is None else _hand(process, input, on_output)
        )
        watch = asyncio.create_task(abort.wait()) if abort is not None else None
        try:
            waiting = {work, watch} if watch else {work}
            await asyncio.wait(waiting, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if watch is not None and watch.done() and not work.done():
                raise Aborted(watch.result())
            timed_out = not work.done()
            if timed_out:
                await process.end()
            output, errors = await work
        finally:
            await process.stop()
            for task in (work, watch):
                if task is not None:
                    task.cancel()
        kept, dropped = output[:max_output], max(len(output) - max_output, 0)
        return Finished(await process.wait(), kept, errors, timed_out, dropped)


async def _hand(process: PlainProcess, data: bytes | None, on_output: Callable[[bytes], bool]) -> tuple[bytes, bytes]:
    errors = asyncio.create_task(_all_errors(process))
    feed = asyncio.create_task(_feed(process, data))
    while piece := await process.read():
        if not on_output(piece):
            await process.end()
            break
    await process.wait()
    feed.cancel()
    return b"", await errors


async def _feed(process: PlainProcess, data: bytes | None) -> None:
    if data is None:
        return
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it may read nothing
        await process.write(data)
        await process.close_input()


async def _all_errors(process: PlainProcess) -> bytes:
    kept = b""
    while piece := await process.read_errors():
        kept += piece
    return kept


class PlainProcess:
    """A running process."""

    def __init__(self, process: Process) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code; None while it runs."""
        return self._process.returncode

    async def communicate(self, data: bytes | None = None) -> tuple[bytes, bytes]:
        """Write `data`, close standard input and return all output and errors."""
        output, errors = await self._process.communicate(data)
        return output or b"", errors or b""

    async def read(self, limit: int = 65536) -> bytes:
        """Return the next output; empty at the end of it."""
        return await self._process.stdout.read(limit) if self._process.stdout else b""

    async def read_errors(self, limit: int = 65536) -> bytes:
        """Return the next of standard error; empty at the end of it."""
        return await self._process.stderr.read(limit) if self._process.stderr else b""

    async def write(self, data: bytes) -> None:
        """Write to standard input."""
        if self._process.stdin is None:
            raise ValueError("The process was started without stdin=True.")
        self._process.stdin.write(data)
        await self._process.stdin.drain()

    async def close_input(self) -> None:
        """Close standard input."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    async def wait(self) -> int:
        """Wait for the end and return the exit code; who else holds its pipes, or that all is read, is not waited for."""
        while self._process.returncode is None:  # noqa: ASYNC110 - asyncio tells of it only when the pipes are at their end
            await asyncio.sleep(0.005)
        return self._process.returncode

    async def stop(self, *, grace: float = 0.0, group: int | None = None) -> None:
        """End the process and its group, and close the pipes."""
        del group
        await self.end(grace=grace)
        self._process._transport.close()  # type: ignore[attr-defined]

    async def end(self, *, grace: float = 0.0) -> None:
        """End the process and its group; what it printed can still be read."""
        for polite in (signal.SIGINT, signal.SIGTERM):
            if grace and self.returncode is None:
                self._signal(polite)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(grace / 2):
                        await self.wait()
        self._signal(signal.SIGKILL)
        await self.wait()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)
