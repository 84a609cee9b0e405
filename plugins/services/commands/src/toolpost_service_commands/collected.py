"""`Collected`: the output of one command, in memory while it is short and in a file beyond that."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from .text import ENDS, Shown, clean, show, show_ends

IN_MEMORY: Final = 2_000_000
"""Bytes up to which output stays in memory and can be shown whole where most of it is redrawn lines."""
_LAST_BYTES = 2_000
_LAST_LINES = 5


class Collected:
    """Output as it comes. `new_file` returns where it may go, a file that is not there; it is asked at most once.

    `size` counts all of it, `trouble` says why not all was kept.
    """

    def __init__(self, new_file: Callable[[], Path]) -> None:
        self._new_file = new_file
        self._data = bytearray()
        self._path: Path | None = None
        self._fd = -1
        self._sealed = False
        self.trouble = ""
        self.size = 0

    def add(self, data: bytes) -> None:
        """Take up the next output; what can't be kept is counted, so that the command goes on."""
        if self._sealed:
            return
        self.size += len(data)
        if self.trouble:
            return
        if self._fd >= 0:
            self._write(data)
            return
        self._data += data
        if len(self._data) > IN_MEMORY:
            self.keep()

    def to_file(self) -> Path:
        """Put what there is and what comes into a file; return its path. Raises OSError where there can't be one."""
        if self._path is None:
            path = self._new_file()
            self._fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC, 0o600)
            self._path = path
            self._write(bytes(self._data))
            self._data.clear()
            if self._sealed:
                self.seal()
        return self._path

    def keep(self) -> Path | None:
        """Put it into a file, if that can be."""
        try:
            return self.to_file()
        except OSError as error:
            self.trouble = error.strerror or str(error)
            return None

    def show(self) -> Shown:
        """Return what there is, for the model."""
        if self._path is None:
            return show(bytes(self._data))
        if self.size <= IN_MEMORY:
            return show(self._path.read_bytes())
        with self._path.open("rb") as file:
            head = file.read(ENDS)
            file.seek(-ENDS, os.SEEK_END)
            return show_ends(head, file.read(), self.size)

    def last_lines(self) -> str:
        """Return the last lines, for a person who waits."""
        if self._path is None:
            data = bytes(self._data[-_LAST_BYTES:])
        else:
            with self._path.open("rb") as file:
                file.seek(max(self._path.stat().st_size - _LAST_BYTES, 0))
                data = file.read()
        return "\n".join(clean(data).rstrip().split("\n")[-_LAST_LINES:])

    def seal(self) -> None:
        """Take up nothing more."""
        self._sealed = True
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def drop(self) -> None:
        """Seal it and remove its file."""
        self.seal()
        if self._path is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError as error:
            self.trouble = error.strerror or str(error)
