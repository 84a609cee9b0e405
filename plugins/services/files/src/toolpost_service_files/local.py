"""`LocalFiles`: the Files service on this machine's file systems."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import stat
from collections.abc import Callable
from copy import copy
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Literal, ParamSpec, TypeVar

from toolpost import DecidedPaths, FileHistory, MissingService, StaleFile, TextFile

from . import atomic, encoding
from .place import Place, at

if TYPE_CHECKING:
    from toolpost import Services

WORTH_A_THREAD = 1_000_000
"""Bytes from which file work goes to a thread: below it the hop costs more than it frees the loop for."""

P = ParamSpec("P")
R = TypeVar("R")


class LocalFiles:
    """Reads any encoding, and replaces files atomically; `paths` says where the paths of a call must lead.

    Before each change the session's `FileHistory`, where a plugin offers one, is asked to keep the file.
    """

    def __init__(self, paths: DecidedPaths | None = None, *, services: Services | None = None) -> None:
        self._paths = paths or DecidedPaths()
        self._services = services

    def bound(self, paths: DecidedPaths) -> LocalFiles:
        """Return the service for the paths of one call."""
        made = copy(self)
        made._paths = paths
        return made

    async def open(self, path: Path) -> BufferedReader:
        """Open a regular file for reading."""
        return _open(self._paths.real(path))

    async def read_bytes(self, path: Path, *, limit: int | None = None) -> bytes:
        """Return the file's first `limit` bytes, or all of them."""
        real = self._paths.real(path)
        size = _size(real) if limit is None else min(limit, _size(real))
        return (await _run(size, _read, real, limit))[0]

    async def read_text(self, path: Path) -> str:
        """Return the decoded text with line endings as `\\n`."""
        return (await self.load(path)).text

    async def load(self, path: Path) -> TextFile:
        """Return the text with all that is needed to write it back the same."""
        real = self._paths.real(path)
        return await _run(_size(real), _load, real, path)

    async def write_text(
        self, path: Path, text: str, *, like: TextFile | None = None, expect: str | None = None
    ) -> TextFile:
        """Replace the file, or create it and its parent folders."""
        real, data = self._paths.real(path), await _run(len(text), _encoded, text, like)
        await self._keep(real, data)
        return await _run(len(data), _write_text, real, path, data, expect)

    async def write_bytes(self, path: Path, data: bytes, *, expect: str | None = None) -> None:
        """Replace the file's bytes, or create it and its parent folders."""
        real = self._paths.real(path)
        await self._keep(real, data)
        await _run(len(data), _write, real, data, expect)

    async def _keep(self, real: Path, data: bytes) -> None:
        try:
            history = None if self._services is None else self._services.get(FileHistory)
        except MissingService:
            return
        if history is not None:
            await history.keep(real, becomes=data)


async def _run(size: int, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Do blocking work here or in a thread; either way it is one piece with no await inside."""
    if size < WORTH_A_THREAD:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _open(real: Path) -> BufferedReader:
    with at(real) as place:
        return _opened(place)


def _opened(place: Place) -> BufferedReader:
    """Open a regular file; other things are not opened at all, as that alone may wait or do something."""
    found = place.stat()
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(place.path))
    _require_regular(found, place.path)
    # Not blocking, and looked at again: another thing may have come into the file's place.
    file = open(place.open(os.O_RDONLY | os.O_NONBLOCK), "rb")  # noqa: PTH123, SIM115 - a descriptor, handed on
    try:
        _require_regular(os.fstat(file.fileno()), place.path)
    except OSError:
        file.close()
        raise
    return file


def _read(real: Path, limit: int | None = None) -> tuple[bytes, os.stat_result]:
    with _open(real) as file:
        return file.read(-1 if limit is None else limit), os.fstat(file.fileno())


def _require_regular(found: os.stat_result, path: Path) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "Not a regular file", str(path))


def _load(real: Path, path: Path) -> TextFile:
    data, found = _read(real)
    return _text_file(path, data, found)


def _text_file(path: Path, data: bytes, found: os.stat_result) -> TextFile:
    raw, name, bom = encoding.decode(data)
    newline, mixed = _newline(raw)
    return TextFile(
        path=path,
        text=raw if "\r" not in raw else raw.replace("\r" if newline == "\r" else "\r\n", "\n"),
        raw_text=raw,
        encoding=name,
        bom=bool(bom),
        newline=newline,
        mixed=mixed,
        digest=hashlib.sha256(data).hexdigest(),
        mtime_ns=found.st_mtime_ns,
        size=len(data),
    )


def _newline(text: str) -> tuple[Literal["\n", "\r\n", "\r"], bool]:
    """Return the ending of most lines, and whether some have another; a lone CR ends lines only where no LF does."""
    if "\r" not in text:
        return "\n", False
    pairs = text.count("\r\n")
    single = text.count("\n") - pairs
    if not pairs and not single:
        return "\r", False
    return ("\r\n" if pairs > single else "\n"), bool(pairs and single)


def _write_text(real: Path, path: Path, data: bytes, expect: str | None) -> TextFile:
    return _text_file(path, data, _write(real, data, expect))


def _encoded(text: str, like: TextFile | None) -> bytes:
    if like is None:
        return text.encode("utf-8")
    if like.newline != "\n":
        text = text.replace("\r\n", "\n").replace("\n", like.newline)
    mark = next((bom for bom, name in encoding.BOMS if name == like.encoding), b"") if like.bom else b""
    return mark + encoding.encode(text, like.encoding)


def _write(real: Path, data: bytes, expect: str | None) -> os.stat_result:
    """Replace the file that a path without links names; return what the system knows of the new one."""
    with at(real, make=expect is None) as place:
        old = place.stat()
        if old is not None:
            _require_regular(old, real)
        seen = _require_unchanged(place, expect)

        def still_as_seen() -> None:
            if expect is not None and _stamp(place) != seen:
                raise StaleFile(f"{real} was changed while it was being replaced. Nothing was written; read it again.")

        atomic.replace(place, data, still_as_seen)
        return os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)


def _require_unchanged(place: Place, expect: str | None) -> tuple[int, ...] | None:
    """Compare the file with the digest that it should have; return what tells a later change."""
    if expect is None:
        return None
    try:
        with _opened(place) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise StaleFile(f"{place.path} no longer exists. Nothing was written.") from None
    if digest != expect:
        raise StaleFile(f"{place.path} has other content by now. Nothing was written; read it again.")
    return _stamp(place)


def _stamp(place: Place) -> tuple[int, ...] | None:
    found = place.stat()
    return None if found is None else (found.st_ino, found.st_size, found.st_mtime_ns)
