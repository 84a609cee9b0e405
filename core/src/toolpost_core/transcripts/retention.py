"""Removing sessions that are older than they are kept."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolpost import SessionError
from toolpost_core.transcripts.listing import is_ours, look
from toolpost_core.transcripts.locks import held
from toolpost_core.transcripts.reading import records_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from toolpost_core.transcripts.store import Store

DAYS: Final = 30
"""Days that sessions are kept where the settings say nothing."""
DAY: Final = 86_400.0
OWN: Final = ("tool-results", "subagents", "messages")
"""What the folder of a session has; one that has anything else, such as the memory's, is none, or not ours alone."""
BESIDE: Final = ("file-history", "session-env")
"""Folders of the config folder that have one of their own for each session."""


@dataclass
class Pruned:
    """What was removed, or would be: transcripts, and folders of sessions that have none. `kept` names those in use."""

    sessions: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    kept: list[Path] = field(default_factory=list)
    bytes: int = 0


def prune(store: Store, days: float, *, dry: bool = False) -> Pruned:
    """Remove sessions that nothing was added to for so many days, with all that belongs to them.

    One that a process has open stays, and so do the long results of those that one which stays is a copy of, and files
    that only other programs wrote to. Raises SessionError where a folder of sessions can't be read.
    """
    before = time.time() - days * DAY
    pruned, stay = Pruned(), list[Path]()
    for path in store.transcripts():
        if _changed(path) >= before or not _prune_session(path, before, pruned, dry=dry):
            stay.append(path)
    old = [folder for folder in _folders_of_sessions(store) if _newest(folder) < before]
    needed = _needed(stay) if old else frozenset()
    for folder in (folder for folder in old if folder.name not in needed):
        pruned.folders.append(folder)
        pruned.bytes += _size(folder)
        if not dry:
            shutil.rmtree(folder, ignore_errors=True)
    if not dry:
        for folder in store.folders():
            with suppress(OSError):
                folder.rmdir()  # where nothing is left in it
    return pruned


def _prune_session(path: Path, before: float, pruned: Pruned, *, dry: bool) -> bool:
    """Remove a transcript; returns whether it is gone, or would be."""
    try:
        _, close = held(path, make=False)
    except SessionError:
        pruned.kept.append(path)
        return False
    except OSError:
        return False
    try:
        status = path.stat()
        if status.st_mtime >= before:
            return False  # somebody went on with it meanwhile
        if status.st_size and not is_ours(path):
            return False
        if not dry:
            path.unlink()
    except OSError:
        return False
    finally:
        close()
    pruned.sessions.append(path)
    pruned.bytes += status.st_size
    return True


def _folders_of_sessions(store: Store) -> Iterator[Path]:
    """Yield folders that are named for a session and hold what belongs to it."""
    for folder in store.folders():
        yield from filter(_is_of_a_session, _folders_in(folder))
    for name in BESIDE:
        yield from _folders_in(store.config_dir / name)


def _is_of_a_session(folder: Path) -> bool:
    names: set[str] = set()
    with suppress(OSError):
        names = {path.name for path in folder.iterdir()}
    return bool(names) and names.issubset(OWN)


def _folders_in(folder: Path) -> list[Path]:
    with suppress(OSError):
        return [path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()]
    return []


def _needed(transcripts: Iterable[Path]) -> frozenset[str]:
    """Return the ids of sessions and of all those that their records were copied from."""
    return frozenset(name for path in transcripts for name in (path.stem, *_origins(path)))


def _origins(path: Path) -> set[str]:
    session = look(path)
    if session is None or not session.forked_from:
        return set()
    try:
        copied = [record.get("forkedFrom") for record in records_in(path)]
    except SessionError:
        return {session.forked_from}
    return {str(origin.get("sessionId")) for origin in copied if isinstance(origin, dict)}


def _newest(folder: Path) -> float:
    return max(map(_changed, _all_in(folder)), default=0.0)


def _size(folder: Path) -> int:
    total = 0
    for path in _all_in(folder):
        with suppress(OSError):
            total += path.lstat().st_size if path.is_file() else 0
    return total


def _all_in(folder: Path) -> Iterable[Path]:
    return (Path(place, name) for place, _, names in os.walk(folder) for name in ("", *names))


def _changed(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return time.time()
