from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolpost import Command, CommandEnd, TaskInfo
from toolpost.testing import AbortSwitch, PlainTasks, ProgressLog
from toolpost_service_commands.local import LocalCommands


@dataclass
class Bench:
    """The service with real processes, and a bash for each command."""

    folder: Path
    commands: LocalCommands
    tasks: PlainTasks
    abort: AbortSwitch = field(default_factory=AbortSwitch)
    progress: ProgressLog = field(default_factory=ProgressLog)

    def command(self, text: str, **more: Any) -> Command:
        given: dict[str, Any] = {"timeout": 30.0, "cwd": self.folder, "env": os.environ, **more}
        return Command(text=text, argv=["bash", "-c", text], **given)

    async def run(self, text: str, **more: Any) -> CommandEnd:
        ended = await self.commands.run(self.command(text, **more), abort=self.abort, progress=self.progress)
        assert isinstance(ended, CommandEnd)
        return ended

    async def moved(self, text: str, **more: Any) -> TaskInfo:
        task = await self.commands.run(self.command(text, **more), abort=self.abort, progress=self.progress)
        assert isinstance(task, TaskInfo)
        return task

    async def pid(self, name: str = "pid") -> int:
        """Wait for a file that a command renames into place when it has written it."""
        async with asyncio.timeout(20):
            while not (self.folder / name).exists():  # noqa: ASYNC110 - another process makes it
                await asyncio.sleep(0.01)
        return int((self.folder / name).read_text())


def runs(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


async def ends(pid: int) -> None:
    """Wait for the end of a process that is not our child."""
    async with asyncio.timeout(20):
        while runs(pid):  # noqa: ASYNC110 - what is waited for is another process
            await asyncio.sleep(0.01)
