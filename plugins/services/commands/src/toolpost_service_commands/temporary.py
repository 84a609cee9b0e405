"""The folder for the small files of shells: where temporary files go, or elsewhere while there is no room."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path


class Temporary:
    """Makes the folder when it is needed, and again where a command cleared it away.

    `others` are where else it may be. `trouble` says why it is not where temporary files usually go.
    """

    def __init__(self, others: Sequence[Path]) -> None:
        self._others = others
        self._made: dict[Path, Path] = {}
        self.trouble = ""

    def folder(self) -> Path:
        """Return a folder that can be written to by now. Raises OSError where there is none."""
        failure: OSError | None = None
        for place in self._places():
            try:
                folder = self._folder_in(place)
            except OSError as error:
                failure = failure or OSError(error.errno, error.strerror, str(place))
                continue
            self.trouble = _told(failure) if failure is not None else ""
            return folder
        raise failure or FileNotFoundError(2, os.strerror(2), tempfile.gettempdir())

    def remove(self) -> None:
        """Remove what was made."""
        for folder in self._made.values():
            shutil.rmtree(folder, ignore_errors=True)
        self._made.clear()

    def _places(self) -> Iterator[Path]:
        yield Path(tempfile.gettempdir())
        yield from self._others

    def _folder_in(self, place: Path) -> Path:
        folder = self._made.get(place)
        if folder is None or not folder.is_dir():
            place.mkdir(parents=True, exist_ok=True)
            folder = self._made[place] = Path(tempfile.mkdtemp(prefix="toolpost-", dir=place)).resolve()
        _write_something(folder / f"room-{uuid.uuid4().hex[:8]}")
        return folder


def _write_something(file: Path) -> None:
    """Find out whether there is room: a file can be made, and something written to it. Raises OSError."""
    try:
        file.write_bytes(b".")
    finally:
        file.unlink(missing_ok=True)


def _told(error: OSError) -> str:
    return f"The folder for temporary files can't be written to: {error.filename}: {error.strerror}"
