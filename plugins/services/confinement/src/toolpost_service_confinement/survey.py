"""Finds protected places, and files of a given name, deeper in a folder: a walk with bounds, kept for some seconds."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from .protected import FILES, FOLDERS

DEEPEST: Final = 4
MOST: Final = 3_000
KEPT_SECONDS: Final = 10.0
_SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "venv", ".venv", "target", "objects"})


@dataclass(frozen=True)
class Survey:
    """What was found below a folder: repositories, other protected places, and every entry by its name."""

    repositories: tuple[Path, ...] = ()
    protected: tuple[Path, ...] = ()
    names: tuple[tuple[str, str], ...] = ()


@dataclass
class Surveyor:
    """Surveys folders. A command is not to wait for a walk each time; what it makes itself is no secret to it."""

    _kept: dict[Path, tuple[float, Survey]] = field(default_factory=dict)

    def survey(self, root: Path) -> Survey:
        """Return what lies below a folder, at most `DEEPEST` levels and `MOST` entries of it."""
        now = time.monotonic()
        kept = self._kept.get(root)
        if kept is None or now - kept[0] > KEPT_SECONDS:
            kept = self._kept[root] = (now, _walked(root))
        return kept[1]


def _walked(root: Path) -> Survey:
    repositories: list[Path] = []
    protected: list[Path] = []
    names: list[tuple[str, str]] = []
    for entry in _entries(root):
        if entry.name == ".git":
            repositories.append(Path(entry.path))
        elif entry.name in FOLDERS or entry.name in FILES:
            protected.append(Path(entry.path))
        names.append((entry.name, entry.path))
    return Survey(tuple(repositories), tuple(protected), tuple(names))


def _entries(root: Path) -> Iterator[os.DirEntry[str]]:
    """Yield entries, nearest first."""
    waiting, left = deque([(str(root), 1)]), MOST
    while waiting and left > 0:
        folder, depth = waiting.popleft()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    left -= 1
                    yield entry
                    enters = depth < DEEPEST and entry.name not in _SKIPPED and entry.name != ".git"
                    if enters and entry.is_dir(follow_symlinks=False):
                        waiting.append((entry.path, depth + 1))
        except OSError:
            continue
