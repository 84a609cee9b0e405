"""`LocalCommands`: commands of one session, on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from toolpost import Aborted, CommandEnd, Confinement, TaskEnd, Wrapped

from .collected import Collected
from .running import Running, Why
from .temporary import Temporary

if TYPE_CHECKING:
    from toolpost import AbortSignal, Command, Progress, SessionScope, TaskInfo

T = TypeVar("T")
_ABORT_GRACE: Final = 0.08
_STOP_GRACE: Final = 0.5
_TIMEOUT_GRACE: Final = 1.0
"""Seconds for a command to end by itself once it was told to."""


class LocalCommands:
    """The `Commands` of one session; `aclose` ends what they left running and removes their folder."""

    def __init__(self, session: SessionScope) -> None:
        from toolpost import Processes

        assert session.services is not None
        self._services = session.services
        self._processes = session.services.get(Processes)
        self._results = session.results_dir
        self._temporary = Temporary([self._results] if self._results is not None else [])
        self._left: set[Running] = set()

    def folder(self) -> Path:
        """Return a folder for the shells' own small files; it goes with the session. Raises OSError."""
        return self._temporary.folder()

    async def run(self, command: Command, *, abort: AbortSignal, progress: Progress) -> CommandEnd | TaskInfo:
        """Run a command to its end; returns a TaskInfo where it goes on in the background."""
        abort.raise_if_aborted()
        running = await self._launch(command)

        def tell(elapsed: float) -> None:
            progress(running.output.last_lines(), elapsed=round(elapsed, 1), bytes=running.output.size)

        try:
            why = await running.wait(timeout=command.timeout, move_after=command.move_after, abort=abort, tell=tell)
            if why == "moved":
                # Who can't be told later waits as long as the call would have taken at most.
                awaited = running.started + command.timeout - time.monotonic()
                timeout = command.moved_timeout or command.timeout
                return await self._in_background(running, command, timeout, awaited=awaited)
            ended = await self._ended(running, command, why)
        except Aborted as error:
            raise Aborted(error.reason, await _to_its_end(self._called_off(running))) from None
        except BaseException:
            await _to_its_end(self._given_up(running))
            raise
        if ended.output_file is None:
            running.output.drop()
        return ended

    async def start(self, command: Command) -> TaskInfo:
        """Start a command in the background."""
        running = await self._launch(command)
        try:
            return await self._in_background(running, command, command.timeout)
        except BaseException:
            await _to_its_end(self._given_up(running))
            raise

    async def aclose(self) -> None:
        """End what commands left running, and remove the folder."""
        left, self._left = self._left, set()
        await asyncio.gather(*(running.end(grace=0.0) for running in left))
        self._temporary.remove()

    async def _launch(self, command: Command) -> Running:
        """Start a command, in the sandbox where it is to be; the one place where any is started."""
        wrapped = Wrapped(argv=tuple(command.argv), env=command.env)
        if command.confined:
            wrapped = await self._services.get(Confinement).enter(
                command.argv, env=command.env, command=command.text, writable=command.writable
            )
        try:
            process = await self._processes.start(
                wrapped.argv, cwd=command.cwd, env=wrapped.env, merge_errors=True, pass_fds=wrapped.pass_fds
            )
        except BaseException:
            await wrapped.finish()
            raise
        return Running(process, Collected(self._new_file), wrapped)

    async def _in_background(
        self, running: Running, command: Command, timeout: float, *, awaited: float = 0.0
    ) -> TaskInfo:
        from toolpost import Tasks, TaskWork

        file = running.output.to_file()

        async def work() -> TaskEnd:
            try:
                ended = await self._ended(running, command, await running.wait(timeout=timeout))
            except BaseException:
                await _to_its_end(self._stopped(running))
                raise
            how = _how(ended, timeout)
            with contextlib.suppress(OSError), file.open("a", encoding="utf-8") as end:
                end.write("".join([f"\n[{how}]\n", *(f"[sandbox: {text}]\n" for text in ended.violations)]))
            return TaskEnd("failed" if ended.code or ended.timed_out or ended.flooded else "completed", how)

        return await self._services.get(Tasks).begin(
            TaskWork(
                kind="local_bash",
                description=command.description or command.text,
                run=work,
                output=lambda: _noted(running.output.show().text, running.output.trouble),
                output_file=file,
                command=command.text,
                tool_use_id=command.tool_use_id,
                awaited=awaited,
            )
        )

    async def _ended(self, running: Running, command: Command, why: Why) -> CommandEnd:
        """Return how a command ended that nobody waits for any longer; ends it where it did not by itself."""
        if why == "ended":
            await running.drain()
        else:
            await running.end(grace=_TIMEOUT_GRACE)
        running.output.seal()
        violations = await running.let_go()
        self._look_after(running)
        shown = running.output.show()
        if command.confined:
            violations += tuple(self._services.get(Confinement).told(shown.text, command=command.text))
        file = running.output.keep() if shown.cut and why != "flooded" else None
        return CommandEnd(
            code=_code(running.process.returncode or 0),
            output=_noted(shown.text, running.output.trouble, self._temporary.trouble),
            size=running.output.size,
            output_file=file,
            timed_out=why == "timed_out",
            flooded=why == "flooded",
            violations=tuple(map(str, violations)),
        )

    async def _called_off(self, running: Running) -> str:
        """End a command that nobody waits for any longer; return its output until then, as far as that can be read."""
        await running.end(grace=_ABORT_GRACE)
        await running.let_go()
        running.output.seal()
        try:
            return running.output.show().text
        except OSError:
            return ""
        finally:
            running.output.drop()

    async def _given_up(self, running: Running) -> None:
        """End a command whose result nobody gets."""
        await self._called_off(running)

    async def _stopped(self, running: Running) -> None:
        """End a command of the background; what it wrote stays."""
        await running.end(grace=_STOP_GRACE)
        await running.let_go()
        running.output.seal()

    def _look_after(self, running: Running) -> None:
        """Go on reading what a command left behind: it must neither block nor be ended by a full or closed pipe."""
        if (reading := running.holds) is not None:
            self._left.add(running)
            reading.add_done_callback(lambda _: self._left.discard(running))

    def _new_file(self) -> Path:
        place = self._results or self.folder()
        place.mkdir(parents=True, exist_ok=True)
        return place / f"output-{uuid.uuid4().hex[:12]}.txt"


async def _to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """Clean up, also where whoever waits for it is cancelled once more."""
    return await asyncio.shield(asyncio.create_task(work))


def _noted(text: str, kept: str, temporary: str = "") -> str:
    """Add to an output why it was not kept, and what the matter is with temporary files."""
    notes = [f"[{note}]" for note in (kept and f"The output could not be kept: {kept}", temporary) if note]
    return "\n".join(filter(None, (text.removesuffix("\n"), *notes))) if notes else text


def _code(returncode: int) -> int:
    """Return the code as a shell tells it: 128 and the number of a signal that ended the command."""
    return returncode if returncode >= 0 else 128 - returncode


def _how(ended: CommandEnd, timeout: float) -> str:
    if ended.timed_out:
        return f"timed out after {timeout:g} s"
    return "ended: it wrote too much" if ended.flooded else f"exit code {ended.code}"
