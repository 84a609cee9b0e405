"""One writer a transcript: the lock that a process holds on a file that it appends to."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolpost import SessionError

if TYPE_CHECKING:
    from collections.abc import Callable

NO_LOCKS: Final = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL})
"""What a file system answers that knows no locks, as some that are mounted over a network."""


def open_locked(path: Path, size: int | None = None) -> tuple[int, Callable[[], None]]:
    """Open a transcript for appending and lock it; returns the descriptor, and what gives both up.

    The lock goes with the process, however it ends. Raises SessionError where another process has it, or where it has
    not the `size` that it was read with; and OSError.
    """
    make_private(path.parent)
    fd, close = held(path)
    now = os.fstat(fd).st_size
    if size not in (None, now):
        if not now:
            path.unlink(missing_ok=True)  # it is gone, and was made anew just now
        close()
        raise SessionError(f"The session {path.stem} was changed by another process while it was read: try again.")
    try:
        _end_last_line(fd)
    except OSError:
        close()
        raise
    return fd, close


def held(path: Path, *, make: bool = True) -> tuple[int, Callable[[], None]]:
    """Open and lock a transcript, one that is there unless `make`, and change nothing; else as `open_locked`."""
    while True:
        fd = os.open(path, os.O_RDWR | os.O_APPEND | (os.O_CREAT if make else 0), 0o600)
        try:
            release = _lock(fd, path)
        except BaseException:
            os.close(fd)
            raise

        def close(fd: int = fd, release: Callable[[], None] = release) -> None:
            os.close(fd)
            release()

        if _is_there(fd, path):
            return fd, close
        close()


def _is_there(fd: int, path: Path) -> bool:
    """Whether a path still leads to an open file: who removes old sessions may have done so before we had the lock."""
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for nobody but the owner. Raises OSError."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(exist_ok=True, mode=0o700)


def _lock(fd: int, path: Path) -> Callable[[], None]:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise _taken(path, _holder(path)) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        from toolpost_core.transcripts.lock_files import take

        return take(path.with_suffix(".lock"), lambda owner: _taken(path, owner))
    return lambda: None


def _taken(path: Path, owner: str) -> SessionError:
    by = f" ({owner})" if owner else ""
    return SessionError(
        f"The session {path.stem} is in use by another process{by}. End that one, or go on in a copy: "
        f"--resume {path.stem} --fork-session"
    )


def _holder(path: Path) -> str:
    """Say which process holds the lock, where the system tells (Linux: /proc/locks by inode)."""
    try:
        inode = path.stat().st_ino
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return ""
    held = [line.split() for line in lines if f":{inode} " in line]
    return f"pid {held[0][4]}" if held else ""


def _end_last_line(fd: int) -> None:
    """A record that was cut off by a crash must not be glued to the next one."""
    size = os.lseek(fd, 0, os.SEEK_END)
    if size and os.pread(fd, 1, size - 1) != b"\n":
        os.write(fd, b"\n")
