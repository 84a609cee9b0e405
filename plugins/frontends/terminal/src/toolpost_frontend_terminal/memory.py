"""`/memory`: the memories of the project, and the text of the one that the person picks."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from toolpost import Notice, SessionError

from . import draw
from .clean import one_line
from .menu import Entry

if TYPE_CHECKING:
    from pathlib import Path

    from toolpost import MemoryFile, SessionDoor

    from .stage import Stage

_MOST: Final = 20_000
"""Characters of a memory that are shown."""


async def memory(door: SessionDoor, argument: str, stage: Stage) -> None:
    """Show one memory: that of the argument's name, or one that is picked. Raises ToolpostError."""
    found = door.memory()
    if found.folder is None:
        _say(stage, "Memory is off: the settings, the environment or --bare say so.")
        return
    paths = _paths(found.folder, found.list())
    if not paths:
        _say(stage, f"Nothing is kept yet. It will lie in {found.folder}: say what is to be remembered.")
        return
    path = _named(argument, paths) if argument else await _picked(paths, stage)
    if path is None:
        _say(stage, f"The memories lie in {found.folder}. They are yours to change and delete.")
        return
    stage.show("command", draw.Whole(str(path)), draw.markdown(_text(path)))


def _paths(folder: Path, files: Sequence[MemoryFile]) -> dict[Path, Entry]:
    """Return what can be shown, the index first, each as the person picks it from a list."""
    index = folder / "MEMORY.md"
    there = index.is_file() and not index.is_symlink()
    first = (
        {index: Entry(index.name, "the index, which the model reads at the beginning of a session")} if there else {}
    )
    return first | {file.path: _entry(file) for file in files}


def _entry(file: MemoryFile) -> Entry:
    notes = (file.type, time.strftime("%Y-%m-%d", time.localtime(file.saved)), one_line(file.description))
    return Entry(one_line(file.path.name), " · ".join(filter(None, notes)))


def _named(name: str, paths: Iterable[Path]) -> Path:
    for path in paths:
        if name in (path.name, path.stem):
            return path
    raise SessionError(f"There is no memory {name!r}. /memory without a name lists them.")


async def _picked(paths: Mapping[Path, Entry], stage: Stage) -> Path | None:
    picked = await stage.pick(list(paths.values()))
    return list(paths)[picked] if picked is not None else None


def _text(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise SessionError(f"{path} can't be read: {error.strerror}.") from error
    return text if len(text) <= _MOST else f"{text[:_MOST]}\n\n… {len(text) - _MOST:,} more characters"


def _say(stage: Stage, text: str) -> None:
    stage.show("command", draw.notice(Notice(text)))
