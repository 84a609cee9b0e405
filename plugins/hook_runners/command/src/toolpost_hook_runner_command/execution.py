"""Runs a program until it exits itself, whatever it leaves running behind it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from toolpost import Confinement, Finished, MissingService, Processes, SessionScope, Wrapped
from toolpost_hook_runner_command.command import Command
from toolpost_hook_runner_command.output import Output

_DRAIN = 0.1
"""Seconds for output to come in after the exit; only something that was left behind holds the pipes for longer."""


async def execute(
    command: Command, scope: SessionScope, output: Output, *, timeout: float, max_errors: int
) -> Finished:
    """Run the program; what it prints goes to `output`. At the time-out, and when cancelled, all that it started is ended.

    Where the session has a sandbox, the program has its way out to the network and no other. Raises OSError, and ToolFailed
    or MissingService where that can't be kept.
    """
    held = await _held(command, scope)
    try:
        if scope.services is not None:
            with contextlib.suppress(MissingService):
                return await scope.services.get(Processes).run(
                    held.argv,
                    cwd=command.folder,
                    env=held.env,
                    input=command.input,
                    timeout=timeout,
                    max_output=max_errors,
                    on_output=output.take,
                    pass_fds=held.pass_fds,
                )
        capture = _Capture(output, Output(max_errors))
        return await _run_alone(replace(command, argv=held.argv, env=held.env), held.pass_fds, timeout, capture)
    finally:
        await held.finish()


async def _held(command: Command, scope: SessionScope) -> Wrapped:
    sandbox = scope.settings.get("sandbox")
    if scope.services is not None and isinstance(sandbox, dict) and sandbox.get("enabled") is True:
        confinement = scope.services.get(Confinement)
        if confinement.in_force:
            return await confinement.enter(command.argv, env=command.env, network_only=True)
    return Wrapped(argv=tuple(command.argv), env=command.env)


async def _run_alone(command: Command, pass_fds: Sequence[int], timeout: float, capture: _Capture) -> Finished:
    """The same where nobody offers the service: ends the process group, but nothing that left it."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.subprocess_exec(
        lambda: capture,
        *command.argv,
        cwd=command.folder,
        env=command.env,
        pass_fds=tuple(pass_fds),
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
    return Finished(
        code if code is not None else -1, b"", bytes(capture.errors.data), timed_out, capture.errors.dropped
    )


class _Capture(asyncio.SubprocessProtocol):
    """Hands both outputs on."""

    def __init__(self, output: Output, errors: Output) -> None:
        self.output, self.errors = output, errors
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()
        self._open = {1, 2}

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        (self.output if fd == 1 else self.errors).take(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        self._open.discard(fd)
        if not self._open:
            self.closed.set()

    def process_exited(self) -> None:
        self.exited.set()
