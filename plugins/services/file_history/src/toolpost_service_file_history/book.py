"""One conversation's ledger with its copies: writing entries down, and reading what was written before."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .copies import Copies
from .entries import KIND, Entry, as_record, as_retraction, from_record, retracted
from .ledger import Ledger

if TYPE_CHECKING:
    from toolpost import Journal

_ID: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}")


class Book:
    """The history of one session id, with its copies in `folder`; those of other sessions lie beside one another."""

    def __init__(
        self, journal: Journal, history_dir: Path, folder: Path, *, max_file_bytes: int, max_stations: int
    ) -> None:
        self.session_id = journal.session_id
        self.copies = Copies(folder)
        self.ledger = Ledger(max_stations)
        self.limit = max_file_bytes
        self._journal = journal
        self._tidied = 0
        self._read(history_dir)

    def write(self, entries: Sequence[Entry]) -> None:
        """Write entries of one station down."""
        if entries:
            self._journal.append(KIND, as_record(entries, update=self.ledger.knows(entries[0].station)))
        for entry in entries:
            self.ledger.add(entry)

    def retract(self, entries: Sequence[Entry]) -> None:
        """Write down that files of one station were not changed after all."""
        if entries:
            self._journal.append(KIND, as_retraction(entries))
            with suppress(OSError):
                self.copies.drop(self.ledger.retract(entries))

    def tidy(self) -> None:
        """Remove the copies that nothing can be gone back to with any more."""
        if self.ledger.surplus > self._tidied:
            self._tidied = self.ledger.surplus
            with suppress(OSError):
                self.copies.drop(self.ledger.dispensable())

    def _read(self, history_dir: Path) -> None:
        elsewhere: dict[str, set[str]] = {}
        for record in self._journal.records(KIND):
            for entry in from_record(record, folder_name(self.session_id)):
                self.ledger.add(entry)
                elsewhere.setdefault(entry.copies_in, set()).add(entry.before.copy)
            last = [self.ledger.last(path) for path in retracted(record)]
            self.ledger.retract([entry for entry in last if entry is not None and entry.becomes is None])
        self._take_over(elsewhere, history_dir)

    def _take_over(self, elsewhere: Mapping[str, set[str]], history_dir: Path) -> None:
        """A fork has copies of its own: the session that it was made from may end before it."""
        unneeded = self.ledger.dispensable()
        for name, copies in elsewhere.items():
            if history_dir / name != self.copies.folder:
                with suppress(OSError):
                    self.copies.take_over(copies - unneeded, history_dir / name)


def folder_name(session_id: str) -> str:
    """Return the name of the folder with a session's copies; an id that can't be one is hashed."""
    return session_id if _ID.fullmatch(session_id) else hashlib.sha256(session_id.encode()).hexdigest()
