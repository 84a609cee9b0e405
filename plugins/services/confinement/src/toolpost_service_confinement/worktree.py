"""Linked worktrees of git: a commit there writes to a repository that lies elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .repositories import of_repository

_POINTERS = ("commondir", "gitdir", "config.worktree")


@dataclass(frozen=True)
class Linked:
    """The folder that a worktree has in its repository, and the repository's own."""

    own: Path
    repository: Path

    @property
    def writable(self) -> tuple[Path, ...]:
        """What git writes to."""
        return (self.repository, self.own)

    @property
    def read_only(self) -> Iterator[Path]:
        """What names programs that git runs, here and in the repository's other worktrees."""
        yield from of_repository(self.repository)
        yield self.own.parent
        yield from (self.own / name for name in _POINTERS if (self.own / name).exists())


def linked(folder: Path) -> Linked | None:
    """Return where the worktree in a folder belongs; None for another folder, and where the other end knows nothing of it.

    What stands in the folder alone proves nothing: it could have come with somebody else's files.
    """
    pointer = folder / ".git"
    try:
        if pointer.is_symlink() or not pointer.is_file():
            return None
        kind, _, target = pointer.read_text(encoding="utf-8").strip().partition(": ")
        own = (folder / target).resolve(strict=True)
        back = Path((own / "gitdir").read_text(encoding="utf-8").strip())
        repository = (own / (own / "commondir").read_text(encoding="utf-8").strip()).resolve(strict=True)
    except (OSError, ValueError):
        return None
    knows = kind == "gitdir" and back == pointer and own.parent == repository / "worktrees"
    return Linked(own, repository) if knows else None
