"""What a session's shells share: the folder for their files, and the commands that run in the background."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from toolpost import StashKey

if TYPE_CHECKING:
    from toolpost import ToolContext
    from toolpost.context import AbortReason

    from .shell import Running


class Shells:
    """Kept in the session's stash; closing it ends the background commands and removes the temporary folder."""

    def __init__(self, results: Path | None) -> None:
        self._results = results
        self._temporary: Path | None = None
        self._jobs: dict[str, tuple[asyncio.Task[None], Running]] = {}

    def folder(self) -> Path:
        """The folder for output: that of the session's results, or a temporary one."""
        if self._results is not None:
            self._results.mkdir(parents=True, exist_ok=True)
            return self._results
        if self._temporary is None:
            self._temporary = Path(tempfile.mkdtemp(prefix="toolpost-bash-"))
        return self._temporary

    def keep(self, running: Running, timeout: float) -> str:
        """Let a command run on in the background; return the id by which it can be stopped."""
        name = running.output.stem
        self._jobs[name] = asyncio.create_task(_background(running, timeout), name=name), running
        return name

    async def stop(self, name: str) -> bool:
        """Stop a background command and all that it started; False where none of that id is known."""
        if name not in self._jobs:
            return False
        job, running = self._jobs.pop(name)
        job.cancel()
        await asyncio.gather(job, return_exceptions=True)
        # A task that was cancelled before its first step has stopped nothing.
        if running.process.returncode is None:
            await running.process.stop()
        running.folder_file.unlink(missing_ok=True)
        return True

    async def aclose(self) -> None:
        """Stop what runs and remove what is temporary."""
        for name in tuple(self._jobs):
            await self.stop(name)
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)


SHELLS: StashKey[Shells] = StashKey("bash.shells")


def shells_of(ctx: ToolContext) -> Shells:
    """The session's shells."""
    if SHELLS not in ctx.stash:
        ctx.stash[SHELLS] = Shells(ctx.state.results_dir)
    return ctx.stash[SHELLS]


async def _background(running: Running, timeout: float) -> None:
    from .shell import wait

    ended = await wait(running, timeout=timeout, abort=_Never())
    note = f"\n[timed out after {timeout:g} s]\n" if ended.timed_out else f"\n[exit code {ended.code}]\n"
    note = "\n[ended: it wrote too much]\n" if ended.flooded else note
    with contextlib.suppress(OSError), running.output.open("a", encoding="utf-8") as file:
        file.write(note)


class _Never:
    """The abort signal of what outlives its call: it ends with the session or by its id."""

    aborted = False
    reason: AbortReason | None = None

    async def wait(self) -> AbortReason:
        """Never return."""
        await asyncio.Event().wait()
        return "engine_stop"

    def raise_if_aborted(self) -> None:
        """Never raise."""
