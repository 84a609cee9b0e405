"""What a command says that it writes or removes is kept before it runs, so that it can be rewound."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toolpost import FileHistory, MissingService

from .files import ANY_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost import ToolContext


@dataclass(frozen=True)
class Stake:
    """The files that were kept; none where the session has no file history."""

    history: FileHistory | None = None
    paths: Sequence[Path] = ()

    async def settle(self) -> None:
        """Take the files for what the command made of them: it has ended."""
        if self.history is not None:
            for path in self.paths:
                await self.history.settle(path)


async def at_stake(command: str, cwd: Path, ctx: ToolContext) -> Stake:
    """Keep the files and folders that the command names to be changed. What it does beyond that nobody can tell."""
    from .matcher import understand

    parts = understand(command, cwd=cwd, home=ctx.scope.home).parts
    paths = list(dict.fromkeys(_plain(path) for part in parts for path in part.writes))
    if not paths:
        return Stake()
    try:
        history = ctx.service(FileHistory)
    except MissingService:
        return Stake()
    for path in paths:
        await history.keep(path)
    return Stake(history, paths)


def _plain(path: Path) -> Path:
    """Return the folder of what stands for all below it, or for something in it."""
    return path.parent if path.name in ("**", ANY_NAME) else path
