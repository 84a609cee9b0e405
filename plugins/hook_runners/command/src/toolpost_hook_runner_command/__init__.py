"""Hooks of type command."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from toolpost import HookAnswer, HookJob, HookRunner, MissingService, SessionScope, ToolFailed

if TYPE_CHECKING:
    from toolpost_hook_runner_command.output import Output


class CommandRunner(HookRunner):
    """Runs a program for a hook: the event's JSON on its standard input, its answer on standard output or its exit code."""

    type: ClassVar[str] = "command"

    max_output: int = 1_000_000
    """Bytes that are kept of standard output, and of standard error."""

    async def run(self, job: HookJob, scope: SessionScope) -> HookAnswer:
        """Run the program to its end, or end it and all that it started at the time-out.

        One whose first line is `{"async": true}` goes on in the background.
        """
        from toolpost_hook_runner_command.output import Output

        output = Output(self.max_output)
        ended = asyncio.create_task(self._ended(job, scope, output))
        gone = asyncio.create_task(output.gone.wait())
        try:
            await asyncio.wait({ended, gone}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            ended.cancel()
            await asyncio.wait({ended})
            raise
        finally:
            gone.cancel()
        if not output.gone.is_set():
            return ended.result()
        limit = output.asked.get("asyncTimeout")
        later = asyncio.create_task(_within(ended, limit / 1000)) if isinstance(limit, int | float) else ended
        return HookAnswer(status="ok", output=output.asked, later=later)

    async def _ended(self, job: HookJob, scope: SessionScope, output: Output) -> HookAnswer:
        from toolpost_hook_runner_command.answer import answer_of, could_not_start
        from toolpost_hook_runner_command.command import CommandError, command_of
        from toolpost_hook_runner_command.execution import execute

        began = time.monotonic()
        try:
            command = command_of(job, scope)
            ended = await execute(command, scope, output, timeout=job.timeout, max_errors=self.max_output)
        except (CommandError, MissingService, ToolFailed) as error:
            return could_not_start(str(error))
        except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
            return could_not_start(f"{job.handler.get('command')!r} could not be started: {error}")
        whole = replace(ended, output=bytes(output.data))
        took = time.monotonic() - began
        return answer_of(whole, timeout=job.timeout, duration=took, dropped=output.dropped)


async def _within(ended: asyncio.Task[HookAnswer], seconds: float) -> HookAnswer:
    try:
        async with asyncio.timeout(seconds):
            return await ended
    except TimeoutError:
        return HookAnswer(status="timed_out", reason=f"it did not end within the {seconds:g} s that it asked for")
