"""`PlainCommands`: the Commands service with real processes, as plain as a test needs it."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from toolpost.services import Command, CommandEnd, TaskInfo
from toolpost.testing.processes import PlainProcesses

if TYPE_CHECKING:
    from toolpost.context import AbortSignal
    from toolpost.tools import Progress


class PlainCommands:
    """Runs commands to their end, their time-out or the abort. `ran` keeps them all, `started` those for the background.

    Nothing is really started in the background: the test looks at what would have been.
    """

    def __init__(self) -> None:
        self.ran: list[Command] = []
        self.started: list[Command] = []
        self._folder: Path | None = None

    def folder(self) -> Path:
        """Return a folder that goes with this object."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="toolpost-test-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder

    async def run(self, command: Command, *, abort: AbortSignal, progress: Progress) -> CommandEnd | TaskInfo:
        """Run a command to its end."""
        del progress
        self.ran.append(command)
        ended = await PlainProcesses().run(
            command.argv, cwd=command.cwd, env=command.env, timeout=command.timeout, merge_errors=True, abort=abort
        )
        text = ended.output.decode("utf-8", errors="replace")
        return CommandEnd(code=ended.returncode, output=text, size=len(ended.output), timed_out=ended.timed_out)

    async def start(self, command: Command) -> TaskInfo:
        """Keep a command that is meant for the background."""
        self.started.append(command)
        return TaskInfo(
            task_id=f"task{len(self.started)}",
            kind="local_bash",
            description=command.description,
            status="running",
            output_file=self.folder() / "output.txt",
            command=command.text,
        )
