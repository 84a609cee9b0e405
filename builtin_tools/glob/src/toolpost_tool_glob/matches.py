"""The files that match, of those that a search comes by."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from . import pattern as globs

FIRST_SHOWN = 5
"""Names of the first results that are shown while the search goes on."""


@dataclass(frozen=True)
class Found:
    """The newest matching files as the model should name them, how many match, and what to tell about that."""

    names: list[str]
    total: int
    note: str = ""


class Matches:
    """The matching files among names that come piece by piece; `take` blocks, and is called by one thread at a time."""

    def __init__(self, folder: Path, pattern: str | None) -> None:
        """Without a pattern each name matches."""
        self._folder = folder
        self._matches = None if pattern is None else globs.matcher(pattern)
        self._times: list[tuple[int, bytes]] = []
        # Relative to an open folder, a file's time is found faster than by its whole path.
        self._open = os.open(folder, getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC)

    def __enter__(self) -> Matches:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._open)

    def __len__(self) -> int:
        return len(self._times)

    def take(self, names: Iterable[bytes]) -> None:
        """Keep the names that match, with their times; a file that is gone by now is left out."""
        matches, keep, stat, folder = self._matches, self._times.append, os.lstat, self._open
        if matches is not None:
            names = [name for name in names if matches(os.fsdecode(name))]
        for name in names:
            try:
                keep((-stat(name, dir_fd=folder).st_mtime_ns, name))
            except OSError:
                continue

    def first(self, cwd: Path) -> str:
        """Name the first files that were found."""
        more = ", …" if len(self._times) > FIRST_SHOWN else ""
        return ", ".join(self._shown(name, cwd) for _, name in self._times[:FIRST_SHOWN]) + more

    def newest(self, limit: int, cwd: Path, note: str = "") -> Found:
        """Return the newest ones, by name where they are of one time."""
        newest = heapq.nsmallest(limit, self._times)
        return Found([self._shown(name, cwd) for _, name in newest], len(self._times), note)

    def _shown(self, name: bytes, cwd: Path) -> str:
        """Name a file from the current folder, or absolute where it lies outside of it."""
        path = os.fsencode(self._folder).rstrip(b"/") + b"/" + name
        return path.removeprefix(os.fsencode(cwd) + b"/").decode("utf-8", "backslashreplace")
