"""`Files`: reading and replacing files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, Protocol

from toolpost._frozen import frozen

if TYPE_CHECKING:
    from toolpost.paths import DecidedPaths


@frozen()
class TextFile:
    """A text file as it was read: its text with line endings as `\\n`, and what is needed to write it back the same.

    `newline` is the ending that most lines have; `mixed` says that not all have it, and `raw_text` then keeps them.
    `digest` is the SHA-256 of the bytes.
    """

    path: Path
    text: str
    raw_text: str
    encoding: str
    bom: bool
    newline: Literal["\n", "\r\n", "\r"]
    mixed: bool
    digest: str
    mtime_ns: int
    size: int


class Files(Protocol):
    """Reads files, and replaces them so that a crash leaves the old one or the new one.

    Paths are absolute: what the model gives goes through `ctx.resolve` first, so that the file is the one that was asked
    about. Links are followed once, before anything is opened; one that comes into their place after that is an OSError.
    """

    def bound(self, paths: DecidedPaths) -> Files:
        """Return the service for one call: `paths` says where the paths of the call must lead.

        Each method then raises StaleFile, too, where one leads elsewhere; nothing was read or written.
        """

    async def open(self, path: Path) -> BinaryIO:
        """Open a file for reading, such as one too big to hold. Raises OSError, for what is no regular file as well."""

    async def read_bytes(self, path: Path, *, limit: int | None = None) -> bytes:
        """Return the file's first `limit` bytes, or all of them. Raises OSError."""

    async def read_text(self, path: Path) -> str:
        """Return the text, decoded by its BOM, as UTF-8, or by what its bytes look like. Raises OSError."""

    async def load(self, path: Path) -> TextFile:
        """Return the text with all that is needed to write it back the same. Raises OSError."""

    async def write_text(
        self, path: Path, text: str, *, like: TextFile | None = None, expect: str | None = None
    ) -> TextFile:
        """Replace the file, or create it and its parent folders.

        `like` gives encoding, BOM and the meaning of `\\n`; without it UTF-8 is written and `\\n` stays. `expect` is
        the digest that the file must still have, checked with no await before the replacement. Mode, owner and
        symbolic links are kept. Raises StaleFile, OSError, UnicodeEncodeError (nothing is then written).
        """

    async def write_bytes(self, path: Path, data: bytes, *, expect: str | None = None) -> None:
        """Replace the file's bytes, or create it and its parent folders. Raises StaleFile, OSError."""
