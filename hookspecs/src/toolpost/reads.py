"""What a session knows of the files that the model has seen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolpost._frozen import frozen

if TYPE_CHECKING:
    from toolpost.services import TextFile


@frozen(kw_only=True)
class FileRecord:
    """What the session knows of a file that the model has seen.

    `offset` and `limit` are those of the read, in lines (None: from the start, to the end). `partial` says that the
    model has not seen all of it. `shown` says that the text is still in the conversation as a Read's result.
    """

    digest: str
    mtime_ns: int
    size: int
    offset: int | None = None
    limit: int | None = None
    partial: bool = False
    shown: bool = True

    @classmethod
    def of(cls, file: TextFile) -> FileRecord:
        """Return the record of a file that the model knows without a Read, as it has just written it."""
        return cls(digest=file.digest, mtime_ns=file.mtime_ns, size=file.size, shown=False)

    def matches(self, file: TextFile) -> bool:
        """Whether a file is as it was: by content, and only where none was hashed by time and size."""
        if self.digest:
            return self.digest == file.digest
        return (self.mtime_ns, self.size) == (file.mtime_ns, file.size)


class ReadState:
    """The files that the model has seen, by real path; shared by the tools of a session."""

    __slots__ = ("_records",)

    def __init__(self) -> None:
        self._records: dict[Path, FileRecord] = {}

    def get(self, path: Path) -> FileRecord | None:
        """Return the record of a real path."""
        return self._records.get(path)

    def put(self, path: Path, record: FileRecord) -> None:
        """Remember what was read or written."""
        self._records[path] = record

    def forget(self, path: Path) -> None:
        """Forget a file."""
        self._records.pop(path, None)

    def outdate(self, path: Path) -> None:
        """Note that what the conversation shows of a file is not what it holds: a Read then shows it again."""
        if (record := self._records.get(path)) is not None:
            self._records[path] = replace(record, shown=False)

    def clear_shown(self) -> None:
        """After the conversation was compacted: nothing read before stands in it any more."""
        self._records = {path: replace(record, shown=False) for path, record in self._records.items()}
