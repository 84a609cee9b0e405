"""From paths with their access to bwrap's mounts."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolpost import ToolFailed, open_beneath

from .access import Places, places, writable_around
from .placeholders import is_placeholder

if TYPE_CHECKING:
    from toolpost import SandboxPolicy

_ROOT = Path("/")
OWN_PROC: Final = ("--proc", "/proc", "--remount-ro", "/proc")
PROC_OF_OUTSIDE: Final = ("--ro-bind", "/proc", "/proc")
"""Either is read-only: where we are root, files there that set the kernel are ours, namespaces or not."""
_EXCHANGED = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


class Mounts:
    """The options for one command; `fds` are those that they name, and `missing` the paths where nothing lies yet.

    Without `own_proc` the `/proc` of outside is shown.
    """

    def __init__(self, policy: SandboxPolicy, *, own_proc: bool = True) -> None:
        self._places: Places = places(policy)
        self._proc = OWN_PROC if own_proc else PROC_OF_OUTSIDE
        self._own_processes = policy.own_processes
        self.fds: list[int] = []
        self.missing = tuple(
            path
            for path, access in self._places.items()
            if access == "read_only" and (is_placeholder(path) or not os.path.lexists(path))
        )

    def options(self) -> Iterator[str]:
        """Yield them. What is missing has to lie there by now. Raises ToolFailed."""
        everything = self._places.get(_ROOT) == "writable"
        yield from ("--dev-bind" if everything else "--ro-bind", "/", "/")
        if not everything:
            yield from ("--dev", "/dev")
        if self._own_processes:
            yield from self._proc
        sealed: list[Path] = []
        for path, access in self._places.items():
            if access == "hidden" and path.is_dir():
                yield from ("--tmpfs", str(path))
                sealed.append(path)
            elif access == "hidden":
                yield from ("--ro-bind", "/dev/null", str(path))
            elif path != _ROOT:
                yield from self._bound(path, "--bind" if access == "writable" else "--ro-bind")
        for path in sealed:
            yield from ("--remount-ro", str(path))

    def close(self) -> None:
        """Close the descriptors; may be called twice."""
        while self.fds:
            with contextlib.suppress(OSError):
                os.close(self.fds.pop())

    def _bound(self, path: Path, option: str) -> Iterator[str]:
        """Bind a path to itself; one that commands may exchange as it lies there now, unless that is a link by now."""
        around = writable_around(path, self._places)
        if around is None:
            yield from (option, str(path), str(path))
            return
        try:
            fd = open_beneath(around, path)
        except OSError as error:
            if error.errno in _EXCHANGED:
                return
            raise ToolFailed(f"The sandbox can't keep {path} as it is: {error.strerror}") from None
        self.fds.append(fd)
        yield from (f"{option}-fd", str(fd), str(path))
