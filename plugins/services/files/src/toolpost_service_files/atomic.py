"""Replacing a file's content so that a crash leaves the old or the new bytes."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

_NO_RENAME = (errno.EXDEV, errno.EBUSY, errno.EACCES, errno.EPERM, errno.EROFS)
"""What says that the folder, not the file, is in the way: the file itself may still be writable."""


def replace(path: Path, data: bytes, check: Callable[[], None]) -> None:
    """Give the file `path` (no symbolic link) the content `data`; makes the file if there is none.

    `check` is called last before the change and raises to call it off. An existing file keeps mode, owner, group and
    extended attributes. Where a rename would cut a hard link or can't give the file back to its owner, it is written
    in place.
    """
    try:
        old = path.stat()
    except FileNotFoundError:
        old = None
    if old is not None and not os.access(path, os.W_OK):
        # A rename would get round the file's own mode.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    if old is None or (old.st_nlink == 1 and _can_give_back(old)):
        try:
            _write_and_rename(path, data, old, check)
            return
        except OSError as error:
            if old is None or error.errno not in _NO_RENAME:
                raise
    check()
    _write_in_place(path, data)


def _can_give_back(old: os.stat_result) -> bool:
    return os.geteuid() == 0 or (old.st_uid == os.geteuid() and old.st_gid in {os.getegid(), *os.getgroups()})


def _write_and_rename(path: Path, data: bytes, old: os.stat_result | None, check: Callable[[], None]) -> None:
    # A new file gets what the umask leaves of 0666; over an old one nobody may read more than before, at any moment.
    temporary = path.with_name(f".{os.getpid()}-{os.urandom(4).hex()}.toolpost.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600 if old else 0o666)
    try:
        try:
            _write_all(descriptor, data)
            if old is not None:
                _dress(descriptor, path, old)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        check()
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _write_in_place(path: Path, data: bytes) -> None:
    # No O_TRUNC, and the room is asked for first: a full disk is found while the old content is whole.
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        size = os.fstat(descriptor).st_size
        if len(data) > size and hasattr(os, "posix_fallocate"):
            _reserve(descriptor, size, len(data))
        _write_all(descriptor, data)
        os.ftruncate(descriptor, len(data))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _reserve(descriptor: int, size: int, wanted: int) -> None:
    try:
        os.posix_fallocate(descriptor, 0, wanted)
    except OSError as error:
        os.ftruncate(descriptor, size)
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _dress(descriptor: int, path: Path, old: os.stat_result) -> None:
    """Give the new file the owner, extended attributes (access lists among them) and mode of the old one."""
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        os.fchown(descriptor, old.st_uid, old.st_gid)
    if hasattr(os, "listxattr"):
        for name in _attributes(path):
            with contextlib.suppress(OSError):
                os.setxattr(descriptor, name, os.getxattr(path, name))
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _attributes(path: Path) -> list[str]:
    try:
        return os.listxattr(path)
    except OSError:
        return []
