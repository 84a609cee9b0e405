"""Repositories that another one's index names as parts of its tree, as submodules are.

Git goes into them from the top, even for a plain `git status`, and runs what their configuration says.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from .repositories import text_of

_MODE: Final = b"\x00\x00\xe0\x00"
"""How the mode of such an entry stands in an index (gitformat-index); anything else may read so too."""
_SPLIT: Final = b"link\x00"
"""How the part of an index begins that names another file with more of it."""
_MOST_BYTES: Final = 1 << 28
_MOST_LINKS: Final = 100_000
_SECONDS: Final = 2
_PLACES: Final = "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin:/run/current-system/sw/bin"
"""Not PATH, which may begin in a folder that commands write to."""
_STARTS_NOTHING: Final = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")
"""The repository that is looked into may be one that a command made."""


class Gitlinks:
    """Reads indexes, each again only once it has changed."""

    def __init__(self) -> None:
        self._kept: dict[Path, tuple[tuple[int, ...], tuple[Path, ...]]] = {}

    def below(self, repositories: Iterable[Path]) -> tuple[Path, ...]:
        """Return the folders that these repositories name so, and that those in turn do; some may be missing."""
        found: dict[Path, None] = {}
        waiting = list(dict.fromkeys(repositories))
        while waiting and len(found) < _MOST_LINKS:
            new = [link for link in self._named(waiting.pop()) if link not in found]
            found |= dict.fromkeys(new)
            waiting += [link / ".git" for link in new]
        return tuple(found)

    def _named(self, git: Path) -> tuple[Path, ...]:
        index = _folder_of(git) / "index"
        try:
            fd = os.open(index, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return ()
        try:
            state = os.fstat(fd)
            # The time of a change of any kind: a command can set the others.
            stamp = (state.st_dev, state.st_ino, state.st_size, state.st_ctime_ns)
            if self._kept.get(git, ((), ()))[0] != stamp:
                may_name = stat.S_ISREG(state.st_mode) and 0 < state.st_size <= _MOST_BYTES and _may_name_any(fd)
                self._kept[git] = (stamp, tuple(_listed(git.parent)) if may_name else ())
        finally:
            os.close(fd)
        return self._kept[git][1]


class Parts:
    """How things stand before a command: which parts of `repositories` are there.

    `known` are repositories that no command made; they may become parts.
    """

    def __init__(self, gitlinks: Gitlinks, repositories: Sequence[Path], known: Collection[Path]) -> None:
        self._gitlinks = gitlinks
        self._repositories = repositories
        self._known = known
        self._before = frozenset(self._there())

    def new(self) -> Iterator[Path]:
        """Yield the `.git` of each part that has come to be."""
        yield from (git for git in self._there() if git not in self._before and git not in self._known)

    def _there(self) -> Iterator[Path]:
        for part in self._gitlinks.below(self._repositories):
            git = part / ".git"
            if os.path.lexists(git) and not is_empty(git):
                yield git


def is_empty(git: Path) -> bool:
    """Whether it is a folder with nothing in it, such as one that keeps its name from being taken: no repository."""
    try:
        with os.scandir(git) as entries:
            return next(entries, None) is None
    except OSError:
        return False


def _folder_of(git: Path) -> Path:
    """Return the folder of a repository, which may be said in a file."""
    if not git.is_file():
        return git
    return git.parent / text_of(git).partition("gitdir:")[2].strip()


def _may_name_any(index: int) -> bool:
    # Not mapped: a command that cut the file short meanwhile would end us.
    with os.fdopen(os.dup(index), "rb") as file:
        data = file.read(_MOST_BYTES)
    return _MODE in data or _SPLIT in data


def _listed(tree: Path) -> Iterator[Path]:
    """Yield what git lists; nothing where it can't, as it goes nowhere then either."""
    program = shutil.which("git", path=_PLACES)
    if program is None:
        return
    # No transport either: what is missing in a partial clone would be fetched by a program that the repository names.
    env = {"PATH": _PLACES, "HOME": os.path.expanduser("~"), "GIT_ALLOW_PROTOCOL": "none", "GIT_OPTIONAL_LOCKS": "0"}  # noqa: PTH111
    try:
        done = subprocess.run(
            (program, *_STARTS_NOTHING, "ls-files", "--stage", "-z"),
            cwd=tree,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    for entry in done.stdout.split(b"\0"):
        if entry.startswith(b"160000 "):
            yield tree / os.fsdecode(entry.partition(b"\t")[2])
