"""Replacing a file's content so that a crash leaves the old or the new bytes."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable

from .leftovers import hold, remove_leftovers, temporary_name
from .place import Place

_NO_RENAME = (errno.EXDEV, errno.EBUSY, errno.EACCES, errno.EPERM, errno.EROFS)
"""What says that the folder, not the file, is in the way: the file itself may still be writable."""


def replace(place: Place, data: bytes, check: Callable[[], None]) -> None:
    """Give a file the content `data`; makes the file if there is none.

    `check` is called last before the change and raises to call it off. An existing file keeps mode, owner, group and
    extended attributes. Where a rename would cut a hard link or can't give the file back to its owner, it is written
    in place.
    """
    old = place.stat()
    if old is not None and not place.is_writable():
        # A rename would get round the file's own mode.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place.path))
    if old is None or (old.st_nlink == 1 and _can_give_back(old)):
        try:
            _write_and_rename(place, data, old, check)
            return
        except OSError as error:
            if old is None or error.errno not in _NO_RENAME:
                raise
    check()
    _write_in_place(place, data)


def _can_give_back(old: os.stat_result) -> bool:
    return os.geteuid() == 0 or (old.st_uid == os.geteuid() and old.st_gid in {os.getegid(), *os.getgroups()})


def _write_and_rename(place: Place, data: bytes, old: os.stat_result | None, check: Callable[[], None]) -> None:
    # A new file gets what the umask leaves of 0666; over an old one nobody may read more than before, at any moment.
    remove_leftovers(place)
    temporary = place.beside(temporary_name())
    descriptor = temporary.open(os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if old else 0o666)
    try:
        hold(descriptor)
        _write_all(descriptor, data)
        if old is not None:
            _dress(descriptor, place, old)
        os.fsync(descriptor)
        check()
        temporary.rename_to(place.name)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    finally:
        os.close(descriptor)


def _write_in_place(place: Place, data: bytes) -> None:
    # No O_TRUNC, and the room is asked for first: a full disk is found while the old content is whole.
    descriptor = place.open(os.O_WRONLY)
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


def _dress(descriptor: int, place: Place, old: os.stat_result) -> None:
    """Give the new file the owner, extended attributes (access lists among them) and mode of the old one."""
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        os.fchown(descriptor, old.st_uid, old.st_gid)
    if hasattr(os, "listxattr"):
        with contextlib.suppress(OSError):
            _copy_attributes(place, descriptor)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _copy_attributes(place: Place, descriptor: int) -> None:
    try:
        source = place.open(os.O_RDONLY | os.O_NONBLOCK)
    except PermissionError:  # we may write it, but not read it
        source = place.open(os.O_WRONLY | os.O_NONBLOCK)
    try:
        for name in os.listxattr(source):
            with contextlib.suppress(OSError):
                os.setxattr(descriptor, name, os.getxattr(source, name))
    finally:
        os.close(source)
