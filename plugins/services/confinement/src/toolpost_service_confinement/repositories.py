"""What in a repository of git names programs that git runs, and where else git looks for that."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

_RUNS: Final = ("config", "config.worktree", "info/attributes")
_OF_WORKTREE: Final = ("commondir", "gitdir", "config.worktree")
_LEADS_AWAY: Final = ("commondir", "config.worktree")
"""What git reads where it is there, and must not be made: an empty folder in its place would keep git from working."""
_NAMES_A_PLACE: Final = re.compile(r"^\s*(hooksPath|path)\s*=\s*\"?([^\"#;\n]+)", re.IGNORECASE | re.MULTILINE)
_DEEPEST: Final = 6
_MOST: Final = 500


def of_repository(git: Path) -> Iterator[Path]:
    """Yield what is protected in a repository's folder; the whole where there is none, or a file that points to one."""
    if git.is_symlink() or not git.is_dir() or not (git / "config").exists():
        # Git would make what it misses; a repository that is not whole is left as it is.
        yield git
        return
    for folder in _with_submodules(git):
        yield folder / "hooks"
        yield from (folder / name for name in _RUNS if os.path.lexists(folder / name))
        yield from _named_places(folder, git.parent)
    for own in _entries(git / "worktrees"):
        yield from (own / name for name in _OF_WORKTREE if os.path.lexists(own / name))


def never_made(repositories: Iterable[Path]) -> Iterator[Path]:
    """Yield what is missing in repositories and would lead git to another configuration, if a command made it."""
    for git in repositories:
        for folder in (*_with_submodules(git), *_entries(git / "worktrees")):
            yield from (folder / name for name in _LEADS_AWAY if not os.path.lexists(folder / name))


def _with_submodules(git: Path) -> Iterator[Path]:
    """Yield a repository's folder and those of its submodules, whose names may have slashes and which may have their own."""
    yield git
    waiting, left = [(git / "modules", 1)], _MOST
    while waiting and left > 0:
        folder, depth = waiting.pop()
        for entry in _entries(folder):
            left -= 1
            is_one = (entry / "HEAD").exists()
            if is_one:
                yield entry
            if depth < _DEEPEST:
                waiting.append((entry / "modules" if is_one else entry, depth + 1))


def _named_places(folder: Path, tree: Path) -> Iterator[Path]:
    """Yield the hooks' folder and the files that a configuration names, if they are there."""
    try:
        text = (folder / "config").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for key, value in _NAMES_A_PLACE.findall(text):
        start = tree if key.lower() == "hookspath" else folder
        place = Path(os.path.normpath(start / Path(value.strip()).expanduser()))
        if place.exists() and not tree.is_relative_to(place):
            yield place


def _entries(folder: Path) -> Iterator[Path]:
    """Yield the folders in a folder; nothing where there is none."""
    try:
        with os.scandir(folder) as entries:
            yield from [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return
