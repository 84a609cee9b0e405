"""Hooks of type command."""

from __future__ import annotations

import time
from typing import ClassVar

from toolpost import HookAnswer, HookJob, HookRunner, SessionScope


class CommandRunner(HookRunner):
    """Runs a program for a hook: the event's JSON on its standard input, its answer on standard output or its exit code."""

    type: ClassVar[str] = "command"

    max_output: int = 1_000_000
    """Bytes that are kept of standard output, and of standard error."""

    async def run(self, job: HookJob, scope: SessionScope) -> HookAnswer:
        """Run the program to its end, or end it and all that it started at the time-out."""
        from toolpost_hook_runner_command.answer import answer_of, could_not_start
        from toolpost_hook_runner_command.command import CommandError, command_of
        from toolpost_hook_runner_command.execution import execute

        began = time.monotonic()
        try:
            command = command_of(job, scope)
            ended = await execute(command, scope, timeout=job.timeout, max_output=self.max_output)
        except CommandError as error:
            return could_not_start(str(error))
        except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
            return could_not_start(f"{job.handler.get('command')!r} could not be started: {error}")
        return answer_of(ended, timeout=job.timeout, duration=time.monotonic() - began)
