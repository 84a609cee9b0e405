"""The files of memories: what each says of itself, and its text."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolpost import MemoryFile

from .places import INDEX

TYPES: Final = ("user", "feedback", "project", "reference")
MOST_FILES: Final = 200
"""Files that are looked at, the newest; more than that nobody has described so that they could be told apart."""
_HEAD_BYTES: Final = 4_096
_FIELD: Final = re.compile(r"^(name|description|type):[ \t]*(.*?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Folder:
    """`MemoryFiles`: the folder of one project; None where memory is off."""

    folder: Path | None

    def list(self) -> Sequence[MemoryFile]:
        """Return the memories, the newest first."""
        return memories(self.folder) if self.folder is not None else ()


def memories(folder: Path) -> list[MemoryFile]:
    """Return what is kept in a folder, the newest first; no index, no logs, nothing that a link leads to."""
    try:
        with os.scandir(folder) as entries:
            found = [
                (entry.stat(follow_symlinks=False).st_mtime, Path(entry.path))
                for entry in entries
                if entry.name.endswith(".md") and entry.name != INDEX and entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return []
    newest = sorted(found, key=lambda one: (-one[0], one[1]))[:MOST_FILES]
    return [_described(path, saved) for saved, path in newest]


def text_of(path: Path, most: int) -> tuple[str, int]:
    """Return the first `most` bytes of a regular file as text, and how many it has; empty where it can't be read.

    A link is not followed: what it leads to is no memory.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return "", 0
            return file.read(most).decode("utf-8", errors="ignore"), status.st_size
    except OSError:
        return "", 0


def _described(path: Path, saved: float) -> MemoryFile:
    fields = _fields(text_of(path, _HEAD_BYTES)[0])
    kind = fields.get("type", "")
    return MemoryFile(
        path=path,
        name=fields.get("name") or path.stem,
        description=fields.get("description", ""),
        type=kind if kind in TYPES else "",
        saved=saved,
    )


def _fields(text: str) -> Mapping[str, str]:
    """Return the fields of the front matter that are lines of their own, without the quotes round their values."""
    if not text.startswith("---"):
        return {}
    head = text[3:].partition("\n---")[0]
    return {name: value.strip("\"'") for name, value in _FIELD.findall(head)}
