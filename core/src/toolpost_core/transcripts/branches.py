"""Which branch a folder is on, from git's own files: to ask git would take a process for each record."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

REF: Final = "ref: refs/heads/"
SHORT: Final = 12


class Branches:
    """Looks up branches; where a folder's repository is, it remembers."""

    def __init__(self) -> None:
        self._heads: dict[Path, Path | None] = {}

    def of(self, folder: Path) -> str:
        """Return the branch, the beginning of the commit where there is none, and nothing outside of a repository."""
        if folder not in self._heads:
            self._heads[folder] = _head_of(folder)
        head = self._heads[folder]
        text = "" if head is None else _text(head)
        return text.removeprefix(REF) if text.startswith(REF) else text[:SHORT]


def _head_of(folder: Path) -> Path | None:
    for place in (folder, *folder.parents):
        git = place / ".git"
        if git.is_dir():
            return git / "HEAD"
        if git.is_file():  # a worktree or submodule
            where = _text(git).removeprefix("gitdir:").strip()
            return place / where / "HEAD" if where else None
    return None


def _text(path: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8").strip()
    return ""
