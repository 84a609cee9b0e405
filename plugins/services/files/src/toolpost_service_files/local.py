"""`LocalFiles`: the Files service on this machine's file systems."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Literal, ParamSpec, TypeVar

from toolpost import StaleFile, TextFile

from . import atomic, encoding

WORTH_A_THREAD = 1_000_000
"""Bytes from which file work goes to a thread: below it the hop costs more than it frees the loop for."""

P = ParamSpec("P")
R = TypeVar("R")


class LocalFiles:
    """Reads any encoding, and replaces files atomically."""

    async def read_bytes(self, path: Path, *, limit: int | None = None) -> bytes:
        """Return the file's first `limit` bytes, or all of them."""
        size = _size(path) if limit is None else min(limit, _size(path))
        return (await _run(size, _read, path, limit))[0]

    async def read_text(self, path: Path) -> str:
        """Return the decoded text with line endings as `\\n`."""
        return (await self.load(path)).text

    async def load(self, path: Path) -> TextFile:
        """Return the text with all that is needed to write it back the same."""
        return await _run(_size(path), _load, path)

    async def write_text(
        self, path: Path, text: str, *, like: TextFile | None = None, expect: str | None = None
    ) -> TextFile:
        """Replace the file, or create it and its parent folders."""
        return await _run(len(text), _write_text, path, text, like, expect)

    async def write_bytes(self, path: Path, data: bytes, *, expect: str | None = None) -> None:
        """Replace the file's bytes, or create it and its parent folders."""
        await _run(len(data), _write, path, data, expect)


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


def _read(path: Path, limit: int | None = None) -> tuple[bytes, os.stat_result]:
    _require_regular(path.stat(), path)
    # Not blocking, and looked at again: another thing may have come into the file's place.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
        found = os.fstat(descriptor)
        _require_regular(found, path)
        return file.read(-1 if limit is None else limit), found


def _require_regular(found: os.stat_result, path: Path) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "Not a regular file", str(path))


def _load(path: Path) -> TextFile:
    data, found = _read(path)
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


def _write_text(path: Path, text: str, like: TextFile | None, expect: str | None) -> TextFile:
    data = _encoded(text, like)
    target = _write(path, data, expect)
    return _text_file(path, data, target.stat())


def _encoded(text: str, like: TextFile | None) -> bytes:
    if like is None:
        return text.encode("utf-8")
    if like.newline != "\n":
        text = text.replace("\r\n", "\n").replace("\n", like.newline)
    mark = next((bom for bom, name in encoding.BOMS if name == like.encoding), b"") if like.bom else b""
    return mark + encoding.encode(text, like.encoding)


def _write(path: Path, data: bytes, expect: str | None) -> Path:
    target = _target(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    seen = _require_unchanged(target, expect)

    def still_as_seen() -> None:
        if expect is not None and _stamp(target) != seen:
            raise StaleFile(f"{path} was changed while it was being replaced")

    atomic.replace(target, data, still_as_seen)
    return target


def _target(path: Path) -> Path:
    """Return where the links lead, so that they are kept; raises OSError for links that lead in a circle."""
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    if target.exists():
        _require_regular(target.stat(), path)
    return target


def _require_unchanged(target: Path, expect: str | None) -> tuple[int, ...] | None:
    """Compare the file with the digest that it should have; return what tells a later change."""
    if expect is None:
        return None
    try:
        data, _ = _read(target)
    except FileNotFoundError:
        raise StaleFile(f"{target} no longer exists") from None
    if hashlib.sha256(data).hexdigest() != expect:
        raise StaleFile(f"{target} has other content by now")
    return _stamp(target)


def _stamp(target: Path) -> tuple[int, ...] | None:
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
