"""What in a repository of git names programs that git runs, and where else git looks for that."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Literal

_RUNS: Final = ("config", "config.worktree", "info/attributes")
_OF_WORKTREE: Final = ("commondir", "gitdir", "config.worktree")
_LEADS_AWAY: Final = ("commondir", "config.worktree")
"""What git reads where it is there, and must not be made: an empty folder in its place would keep git from working."""
_NAMES_A_PLACE: Final = re.compile(
    r"(?:^|\])[ \t]*(hooksPath|path)[ \t]*=[ \t]*\"?([^\"#;\n]+)", re.IGNORECASE | re.MULTILINE
)
_OF_PERSON: Final = (".gitconfig", ".config/git/config")
_DEEPEST: Final = 6
_MOST_BYTES: Final = 1_000_000
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
        for kind, place in _named_places(folder / "config", git.parent):
            if kind == "hooks" or place.exists():
                yield place
    for own in _entries(git / "worktrees"):
        yield from (own / name for name in _OF_WORKTREE if os.path.lexists(own / name))


def around(folder: Path) -> Path | None:
    """Return the repository of a folder above, whose configuration and index may name places in this one."""
    return next((parent / ".git" for parent in folder.parents if os.path.lexists(parent / ".git")), None)


def never_made(repositories: Iterable[Path]) -> Iterator[Path]:
    """Yield what is missing in repositories and would lead git to another configuration, if a command made it."""
    for git in repositories:
        for folder in (*_with_submodules(git), *_entries(git / "worktrees")):
            yield from (folder / name for name in _LEADS_AWAY if not os.path.lexists(folder / name))
        for kind, place in _named_places(git / "config", git.parent):
            if kind == "configuration" and not os.path.lexists(place):
                yield place


def hooks_of_person(home: Path, git: Path) -> Iterator[Path]:
    """Yield the folder of hooks that a person's own configuration names, there or not: it may be one in each tree."""
    for name in _OF_PERSON:
        yield from (place for kind, place in _named_places(home / name, git.parent) if kind == "hooks")


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


def _named_places(config: Path, tree: Path, depth: int = 1) -> Iterator[tuple[Literal["hooks", "configuration"], Path]]:
    """Yield the folder of hooks and the files that a configuration names, also by way of such a file, there or not.

    One that the whole tree lies in can't be kept from being written to.
    """
    for key, value in _NAMES_A_PLACE.findall(text_of(config)):
        of_hooks = key.lower() == "hookspath"
        start = tree if of_hooks else config.parent
        place = Path(os.path.normpath(start / os.path.expanduser(value.strip())))  # noqa: PTH111 - a Path raises for ~nobody
        if tree.is_relative_to(place):
            continue
        yield "hooks" if of_hooks else "configuration", place
        if not of_hooks and depth < _DEEPEST:
            yield from _named_places(place, tree, depth + 1)


def text_of(file: Path) -> str:
    """Return the text of a file; nothing where there is none. What is no file, such as a pipe, is not waited for."""
    try:
        fd = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(fd, "rb") as opened:
            is_file = stat.S_ISREG(os.fstat(fd).st_mode)
            return opened.read(_MOST_BYTES).decode(errors="surrogateescape") if is_file else ""
    except OSError:
        return ""


def _entries(folder: Path) -> Iterator[Path]:
    """Yield the folders in a folder; nothing where there is none."""
    try:
        with os.scandir(folder) as entries:
            yield from [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return
