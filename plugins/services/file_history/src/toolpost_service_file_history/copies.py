"""Copies of files by content: one file for each content, named for its SHA-256."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Final

NAME: Final = re.compile(r"[0-9a-f]{64}")
_CHUNK = 1 << 20


class TooBig(Exception):
    """Raised for a file that is over the limit."""


class Damaged(Exception):
    """Raised for a copy that does not hold what its name says."""


class Copies:
    """The copies of one session. Every method but `has` raises OSError; names that are no copy's are passed over."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, file: Path, limit: int) -> str:
        """Keep the content of a file and return its name. Raises TooBig."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = self.folder / f".{os.getpid()}-{os.urandom(4).hex()}.tmp"
        with _opened(file) as source:
            try:
                descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                with open(descriptor, "wb") as target:  # noqa: PTH123 - a descriptor, not a path
                    name = _copy(source, target, limit)
                if self.has(name):
                    temporary.unlink()
                else:
                    temporary.replace(self.folder / name)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
        return name

    def read(self, name: str) -> bytes:
        """Return a content. Raises Damaged."""
        data = (self.folder / name).read_bytes()
        if hashlib.sha256(data).hexdigest() != name:
            raise Damaged
        return data

    def has(self, name: str) -> bool:
        """Whether there is a copy of that name."""
        return is_copy(name) and (self.folder / name).is_file()

    def take_over(self, names: Iterable[str], other: Path) -> None:
        """Take copies over from another session's folder, as far as they are there and not here."""
        for name in names:
            if not is_copy(name) or self.has(name) or not (other / name).is_file():
                continue
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                os.link(other / name, self.folder / name)
            except OSError:  # another file system, or one without links
                shutil.copyfile(other / name, self.folder / name)

    def drop(self, names: Iterable[str]) -> None:
        """Remove copies."""
        for name in filter(is_copy, names):
            (self.folder / name).unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove all of them, and the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


def is_copy(name: str) -> bool:
    """Whether a content's name is that of a file's content, of which there is a copy."""
    return NAME.fullmatch(name) is not None


def digest_of(file: Path) -> str:
    """Return the SHA-256 of a regular file's content. Raises OSError."""
    with _opened(file) as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


@contextmanager
def _opened(file: Path) -> Iterator[BufferedReader]:
    # Not blocking, and looked at again: another thing may have come into the file's place.
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    with open(descriptor, "rb") as source:  # noqa: PTH123 - a descriptor, not a path
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{file} is no regular file")
        yield source


def _copy(source: BinaryIO, target: BinaryIO, limit: int) -> str:
    digest, size = hashlib.sha256(), 0
    while chunk := source.read(_CHUNK):
        size += len(chunk)
        if size > limit:
            raise TooBig
        digest.update(chunk)
        target.write(chunk)
    return digest.hexdigest()
