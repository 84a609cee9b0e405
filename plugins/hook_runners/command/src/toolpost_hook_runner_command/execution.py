"""Runs a program until it exits itself, whatever it leaves running behind it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import cast

from toolpost import Finished, MissingService, Processes, SessionScope
from toolpost_hook_runner_command.command import Command

_DRAIN = 0.1
"""Seconds for output to come in after the exit; only something that was left behind holds the pipes for longer."""


async def execute(command: Command, scope: SessionScope, *, timeout: float, max_output: int) -> Finished:
    """Run the program. At the time-out, and when cancelled, all that it started is ended. Raises OSError."""
    if scope.services is not None:
        with contextlib.suppress(MissingService):
            processes = scope.services.get(Processes)
            return await processes.run(
                command.argv,
                cwd=command.folder,
                env=command.env,
                input=command.input,
                timeout=timeout,
                max_output=max_output,
            )
    return await _run_alone(command, timeout, max_output)


async def _run_alone(command: Command, timeout: float, max_output: int) -> Finished:
    """The same where nobody offers the service: ends the process group, but nothing that left it."""
    loop = asyncio.get_running_loop()
    transport, capture = await loop.subprocess_exec(
        lambda: _Capture(max_output),
        *command.argv,
        cwd=command.folder,
        env=command.env,
        start_new_session=True,
    )
    timed_out = False
    try:
        stdin = cast("asyncio.WriteTransport", transport.get_pipe_transport(0))
        stdin.write(command.input)
        stdin.write_eof()
        try:
            async with asyncio.timeout(timeout):
                await capture.exited.wait()
        except TimeoutError:
            timed_out = True
        if not timed_out:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_DRAIN):
                    await capture.closed.wait()
    finally:
        if not capture.exited.is_set():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(transport.get_pid(), signal.SIGKILL)
            await capture.exited.wait()
        transport.close()
    code = transport.get_returncode()
    output, errors = (bytes(capture.kept[number]) for number in (1, 2))
    return Finished(code if code is not None else -1, output, errors, timed_out, capture.dropped)


class _Capture(asyncio.SubprocessProtocol):
    """Keeps the first bytes of both outputs."""

    def __init__(self, limit: int) -> None:
        self.kept = {1: bytearray(), 2: bytearray()}
        self.dropped = 0
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()
        self._limit = limit
        self._open = {1, 2}

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        room = max(self._limit - len(self.kept[fd]), 0)
        self.kept[fd] += data[:room]
        self.dropped += max(len(data) - room, 0)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        self._open.discard(fd)
        if not self._open:
            self.closed.set()

    def process_exited(self) -> None:
        self.exited.set()
