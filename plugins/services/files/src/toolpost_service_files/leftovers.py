"""Temporary files: their names, and removing those that killed processes left behind."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .place import Place

_SUFFIX: Final = ".toolpost.tmp"
_NAME: Final = re.compile(rf"\.(\d+)-[0-9a-f]{{8}}{re.escape(_SUFFIX)}")


def temporary_name() -> str:
    """Return a new name that says which process writes the file."""
    return f".{os.getpid()}-{os.urandom(4).hex()}{_SUFFIX}"


def hold(descriptor: int) -> None:
    """Lock a temporary file while its descriptor is open; a process that ends lets go of it, however it ends."""
    with contextlib.suppress(OSError):  # a file system without locks: the name has to do
        _lock(descriptor)


def remove_leftovers(place: Place) -> None:
    """Remove what killed processes left in the folder of a file.

    That is what nobody holds and whose process is gone: one alone would not do, as a process in another container or on
    another machine can't be seen, and a new file is not held at once.
    """
    with contextlib.suppress(OSError):
        for name in place.neighbours():
            found = _NAME.fullmatch(name)
            if found is not None and not _is_alive(int(found[1])):
                with contextlib.suppress(OSError):
                    _remove(place.beside(name))


def _remove(leftover: Place) -> None:
    descriptor = leftover.open(os.O_RDONLY | os.O_NONBLOCK)
    try:
        _lock(descriptor)
        leftover.unlink()
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # another user's
        return True
    return True
