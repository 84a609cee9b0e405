"""What no mount can keep from being made is looked for after a command, taken away, and reported."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from toolpost import Violation, open_beneath

from .gitlinks import Parts
from .repositories import never_made

_REPOSITORY: Final = ("HEAD", "objects", "refs")
"""What makes a folder look like a bare repository, whose `config` git then follows."""


class Guard:
    """Remembers how things stood before a command; made right before it, asked right after.

    `repositories` are the folders of git that commands may write to, whether they are there or not.
    What it takes away lies in folders that commands may exchange, so that it follows no link there.
    """

    def __init__(
        self,
        roots: Sequence[Path],
        cwd: Path,
        protected: Sequence[Path],
        repositories: Sequence[Path] = (),
        parts: Parts | None = None,
    ) -> None:
        self._roots = (*roots, *repositories)
        self._folders = [folder for folder in dict.fromkeys((*roots, cwd)) if not _looks_bare(folder)]
        self._pointers = list(dict.fromkeys(never_made(repositories)))
        self._links = {path: path.readlink() for path in protected if path.is_symlink()}
        self._parts = parts

    def mend(self) -> Sequence[Violation]:
        """Take away what was planted and put back what was exchanged; return what it was."""
        return (*self._exchanged(), *self._redirected(), *self._bare(), *self._made_parts())

    def _bare(self) -> Iterator[Violation]:
        for folder in self._folders:
            if _looks_bare(folder) and self._removed(folder / "HEAD"):
                yield Violation("write", str(folder / "HEAD"), "it made the folder look like a repository; removed")

    def _redirected(self) -> Iterator[Violation]:
        for pointer in self._pointers:
            if os.path.lexists(pointer) and self._removed(pointer):
                yield Violation("write", str(pointer), "it led git to another configuration; removed")

    def _made_parts(self) -> Iterator[Violation]:
        """Set aside repositories that the command made parts of others, so that git does not go into them from the top."""
        for git in self._parts.new() if self._parts is not None else ():
            aside = f".git.set-aside-{secrets.token_hex(3)}"
            try:
                with self._folder_of(git) as folder:
                    os.rename(git.name, aside, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError as error:
                yield Violation("write", str(git), f"git would follow its configuration from above: {error.strerror}")
            else:
                yield Violation(
                    "write",
                    str(git),
                    f"as a part of another repository its configuration would be followed; now {aside}",
                )

    def _exchanged(self) -> Iterator[Violation]:
        for link, target in self._links.items():
            with contextlib.suppress(OSError):
                if link.readlink() == target:
                    continue
            self._removed(link)
            with contextlib.suppress(OSError), self._folder_of(link) as folder:
                os.symlink(target, link.name, dir_fd=folder)
                yield Violation("write", str(link), "it is protected; the link was put back")

    def _removed(self, path: Path) -> bool:
        """Remove a file or a folder with all that is in it; False where it is not there to be removed."""
        try:
            with self._folder_of(path) as folder:
                if stat.S_ISDIR(os.lstat(path.name, dir_fd=folder).st_mode):
                    shutil.rmtree(path.name, dir_fd=folder)
                else:
                    os.unlink(path.name, dir_fd=folder)
        except OSError:
            return False
        return True

    @contextmanager
    def _folder_of(self, path: Path) -> Iterator[int]:
        """Open the folder that a path lies in. Raises OSError where a link is on the way."""
        root = next((root for root in self._roots if path.parent.is_relative_to(root)), None)
        if root is None:
            raise FileNotFoundError(str(path))
        folder = open_beneath(root, path.parent)
        try:
            yield folder
        finally:
            os.close(folder)


def _looks_bare(folder: Path) -> bool:
    return all(os.path.lexists(folder / name) for name in _REPOSITORY)
