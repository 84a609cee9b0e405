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
    """Surveys folders. A command is not to wait for a walk each time; what it makes itself is no secret to it.

    What the first one found is found as long as it is there: else a command could hide it behind many files of its own.
    """

    _kept: dict[Path, tuple[float, Survey]] = field(default_factory=dict)
    _first: dict[Path, Survey] = field(default_factory=dict)

    def survey(self, root: Path) -> Survey:
        """Return what lies below a folder, at most `DEEPEST` levels and `MOST` entries of it."""
        now = time.monotonic()
        kept = self._kept.get(root)
        if kept is None or now - kept[0] > KEPT_SECONDS:
            new = _walked(root)
            kept = self._kept[root] = (now, _with_what_is_left(new, self._first.setdefault(root, new)))
        return kept[1]

    @property
    def first_repositories(self) -> frozenset[Path]:
        """The repositories that were there before any command was."""
        return frozenset(path for survey in self._first.values() for path in survey.repositories)


def _with_what_is_left(new: Survey, old: Survey) -> Survey:
    """Add to a survey what an older one found, is still there, and was not come to this time."""
    paths = {path for _, path in new.names}
    left = tuple((name, path) for name, path in old.names if path not in paths and os.path.lexists(path))
    if not left:
        return new
    still = {path for _, path in left}
    return Survey(
        (*new.repositories, *(path for path in old.repositories if str(path) in still)),
        (*new.protected, *(path for path in old.protected if str(path) in still)),
        (*new.names, *left),
    )


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
