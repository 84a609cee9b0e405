"""`PlainFiles`: the Files service on the real file system, as plain as a test needs it."""

from __future__ import annotations

import asyncio
import codecs
import hashlib
from pathlib import Path
from typing import BinaryIO, Literal

from toolpost.errors import StaleFile
from toolpost.paths import DecidedPaths
from toolpost.services import TextFile


class PlainFiles:
    """Reads and writes real files. Knows UTF-8, UTF-16 with a BOM and Latin-1; replaces a file by writing over it."""

    def __init__(self, paths: DecidedPaths | None = None) -> None:
        self._paths = paths or DecidedPaths()

    def bound(self, paths: DecidedPaths) -> PlainFiles:
        """Return the service for the paths of one call."""
        return PlainFiles(paths)

    async def open(self, path: Path) -> BinaryIO:
        """Open the file for reading."""
        return self._paths.real(path).open("rb")

    async def read_bytes(self, path: Path, *, limit: int | None = None) -> bytes:
        """Return the file's first `limit` bytes, or all of them."""
        data = await asyncio.to_thread(self._paths.real(path).read_bytes)
        return data if limit is None else data[:limit]

    async def read_text(self, path: Path) -> str:
        """Return the text, line endings as `\\n`."""
        return (await self.load(path)).text

    async def load(self, path: Path) -> TextFile:
        """Return the text with what is needed to write it back the same."""
        return await asyncio.to_thread(_load, path, self._paths.real(path))

    async def write_text(
        self, path: Path, text: str, *, like: TextFile | None = None, expect: str | None = None
    ) -> TextFile:
        """Replace the file, or create it and its parent folders."""
        await self.write_bytes(path, _encoded(text, like), expect=expect)
        return await self.load(path)

    async def write_bytes(self, path: Path, data: bytes, *, expect: str | None = None) -> None:
        """Replace the file's bytes, or create it and its parent folders."""
        await asyncio.to_thread(_write, self._paths.real(path), data, expect)


def _load(path: Path, real: Path) -> TextFile:
    data = real.read_bytes()
    stat = real.stat()
    encoding, bom = _encoding(data)
    raw = data[len(bom) :].decode(encoding)
    newline, mixed = _newline(raw)
    text = raw.replace("\r\n", "\n").replace("\r", "\n") if newline != "\n" or mixed else raw
    digest = hashlib.sha256(data).hexdigest()
    return TextFile(path, text, raw, encoding, bool(bom), newline, mixed, digest, stat.st_mtime_ns, stat.st_size)


def _encoding(data: bytes) -> tuple[str, bytes]:
    marks = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
    for mark, name in marks:
        if data.startswith(mark):
            return name, mark
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1", b""
    return "utf-8", b""


def _newline(raw: str) -> tuple[Literal["\n", "\r\n", "\r"], bool]:
    crlf = raw.count("\r\n")
    counts: dict[Literal["\n", "\r\n", "\r"], int] = {
        "\n": raw.count("\n") - crlf,
        "\r\n": crlf,
        "\r": raw.count("\r") - crlf,
    }
    most = max(counts, key=lambda ending: counts[ending])
    return most, sum(count > 0 for count in counts.values()) > 1


def _encoded(text: str, like: TextFile | None) -> bytes:
    if like is None:
        return text.encode("utf-8")
    marks = {"utf-8": codecs.BOM_UTF8, "utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
    lines = text if like.newline == "\n" else text.replace("\n", like.newline)
    return (marks.get(like.encoding, b"") if like.bom else b"") + lines.encode(like.encoding)


def _write(path: Path, data: bytes, expect: str | None) -> None:
    if expect is not None and (not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != expect):
        raise StaleFile(f"{path} changed since it was read; nothing was written.")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
