"""Keeps names from being made in a writable folder: an empty folder stands there while commands run.

A mount needs something to lie on. What stands there is told from a folder of somebody's own by its time, and is removed by
the last that needs it; a lock on it says whether others do, also in other processes, and goes with us if we are killed.
Outside it is a folder like any other: who puts something into it keeps it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from toolpost import ToolFailed

TIME_NS: Final = 1
_TRIES: Final = 20


class Placeholders:
    """Those of one command."""

    def __init__(self) -> None:
        self._held: list[tuple[Path, int]] = []

    def hold(self, paths: Iterable[Path]) -> None:
        """Have an empty folder at each path, or take part in another's.

        Where we may make none the command can't either. Raises ToolFailed.
        """
        for path in paths:
            try:
                fd = _held(path)
            except OSError as error:
                self.release()
                raise ToolFailed(f"The sandbox can't keep {path} from being made: {error.strerror}") from None
            if fd is not None:
                self._held.append((path, fd))

    def release(self) -> None:
        """Remove those that nobody else needs; may be called twice."""
        for path, fd in self._held:
            with contextlib.suppress(OSError):
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(fd, path):
                    path.rmdir()
            os.close(fd)
        self._held.clear()


def is_placeholder(path: Path) -> bool:
    """Whether what stands at a path was put there by us."""
    try:
        found = path.lstat()
        return stat.S_ISDIR(found.st_mode) and found.st_mtime_ns == TIME_NS and next(path.iterdir(), None) is None
    except OSError:
        return False


def _held(path: Path) -> int | None:
    """Return a locked descriptor of the placeholder; None where something else came into its place meanwhile."""
    for _ in range(_TRIES):
        try:
            path.mkdir()
            os.utime(path, ns=(TIME_NS, TIME_NS))
        except FileExistsError:
            pass
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                return None
            raise
        try:
            fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # the last of the others has just removed it
        except NotADirectoryError:
            return None
        fcntl.flock(fd, fcntl.LOCK_SH)
        if _is_at(fd, path):
            return fd
        os.close(fd)
    raise FileNotFoundError(2, "it is removed each time that it is made", str(path))


def _is_at(fd: int, path: Path) -> bool:
    try:
        here, there = os.fstat(fd), path.lstat()
    except OSError:
        return False
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
