"""A file by the folder that holds it, kept open, and its name there: links that come into the path later lead nowhere."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from toolpost import open_beneath


@dataclass(frozen=True)
class Place:
    """The name of a file in an open folder; `path` is for messages only."""

    folder: int
    name: str
    path: Path

    def stat(self) -> os.stat_result | None:
        """Return what the system knows of the file, None if there is none; raises OSError for a link."""
        try:
            found = os.stat(self.name, dir_fd=self.folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _named(error, self.path) from None
        if stat.S_ISLNK(found.st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(self.path))
        return found

    def open(self, flags: int, mode: int = 0o666) -> int:
        """Open the file itself, never what a link leads to."""
        try:
            return os.open(self.name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=self.folder)
        except OSError as error:
            raise _named(error, self.path) from None

    def is_writable(self) -> bool:
        """Whether the file's own mode lets us write it."""
        return os.access(self.name, os.W_OK, dir_fd=self.folder)

    def beside(self, name: str) -> Place:
        """Return another file of the same folder."""
        return Place(self.folder, name, self.path.with_name(name))

    def neighbours(self) -> list[str]:
        """Return the names of all that is in the folder."""
        folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.folder)
        try:
            return os.listdir(folder)  # noqa: PTH208 - a descriptor, not a path
        finally:
            os.close(folder)

    def rename_to(self, name: str) -> None:
        """Rename the file within its folder, over whatever has the name."""
        os.replace(self.name, name, src_dir_fd=self.folder, dst_dir_fd=self.folder)

    def unlink(self) -> None:
        """Remove the file."""
        os.unlink(self.name, dir_fd=self.folder)


@contextmanager
def at(real: Path, *, make: bool = False) -> Iterator[Place]:
    """Open the folder of a path that has no links in it, and make it where that is wanted and it is not there.

    Raises OSError for what can't be opened, a link that has come into the path among it.
    """
    folder = _opened(real.parent, make=make)
    try:
        yield Place(folder, real.name or ".", real)
    finally:
        os.close(folder)


def _opened(folder: Path, *, make: bool) -> int:
    try:
        return open_beneath(Path(folder.anchor), folder)
    except OSError as error:
        if not make or error.errno != errno.ENOENT:
            raise _named(error, folder) from None
    with at(folder, make=True) as place, contextlib.suppress(FileExistsError):
        os.mkdir(place.name, dir_fd=place.folder)
    return _opened(folder, make=False)


def _named(error: OSError, path: Path) -> OSError:
    """Return the error with the whole path in the place of one name."""
    return OSError(error.errno, error.strerror, str(path))
