"""Looking at what stands at a path."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple


class Found(NamedTuple):
    """What stands at a path: its kind, size and mode."""

    kind: Literal["none", "file", "folder", "link", "other"]
    size: int = 0
    mode: int = 0o644


def look(path: Path) -> Found:
    """Say what stands at a path; a symbolic link is not followed. Raises OSError."""
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return Found("none")
    mode = stat.S_IMODE(found.st_mode)
    if stat.S_ISREG(found.st_mode):
        return Found("file", found.st_size, mode)
    if stat.S_ISDIR(found.st_mode):
        return Found("folder", mode=mode)
    return Found("link" if stat.S_ISLNK(found.st_mode) else "other", mode=mode)


def real(path: Path) -> Path:
    """Return where links lead: it is the target that is changed."""
    return Path(os.path.realpath(path))


def itself(path: Path) -> Path:
    """Return a path whose last part may be a link, with no link before it."""
    return real(path.parent) / path.name


def first_missing(path: Path) -> str:
    """Return the topmost folder above a path that is not there; empty if all are."""
    missing = ""
    for folder in path.parents:
        if os.path.lexists(folder):
            break
        missing = str(folder)
    return missing


def below(folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield the folders, regular files and links below a folder, with the sizes of files; links are not followed."""
    for place, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(place, name)
            found = look(path)
            if found.kind not in ("none", "other"):
                yield path, found.size


def make_folder(path: Path) -> None:
    """Make a folder, and those above it, where there is none."""
    path.mkdir(parents=True, exist_ok=True)


def make_link(path: Path, text: str) -> None:
    """Make a symbolic link, and the folders above it."""
    make_folder(path.parent)
    path.symlink_to(text)


def remove_empty(folders: Iterable[Path]) -> None:
    """Remove folders, the inner before the outer, where they are empty."""
    for folder in sorted(folders, reverse=True):
        with suppress(OSError):
            folder.rmdir()
