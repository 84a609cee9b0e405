"""Taking down how files are: copies of them, and entries that are not written down yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from .book import Book
from .copies import TooBig, digest_of
from .entries import FOLDER, LINK, NO_FILE, Before, Entry, now
from .places import Found, first_missing, look


class Seen(NamedTuple):
    """A file as it is: what the station found there, the content's name where that is known, and the mode."""

    before: Before
    content: str | None
    mode: int = 0o644


@dataclass(frozen=True)
class Taking:
    """Takes files down for one station; everything here may be done in a thread.

    `station` is what the changes belong to, `prompt` the last prompt.
    """

    book: Book
    station: str
    prompt: str

    def file(self, path: Path, becomes: str | None, mode: int | None = None) -> list[Entry]:
        """Keep a file that is about to change; empty where nothing changes.

        `becomes` is the content that it gets, if that is known, and `mode` its mode, None where that stays.
        """
        last = self.book.ledger.last(path)
        seen = self._seen(path, last if last is not None and last.station == self.station else None)
        if seen is None or _stays(seen, becomes, mode) or self._is_known(last, seen.content, becomes):
            return []
        entry = replace(self.entry(path, seen.before, seen.content, becomes), mode=_mode_left(seen, becomes, mode))
        if last is None:
            return [entry]
        return [
            replace(entry, by_hand=_is_by_hand(seen, last), version=last.version + (last.before is not seen.before))
        ]

    def files(self, paths: Iterable[Path]) -> list[Entry]:
        """Keep files of which nobody knows what becomes of them."""
        return [entry for path in paths for entry in self.file(path, None)]

    def unkept(self, path: Path, why: str) -> list[Entry]:
        """Take down that something is about to change of which nothing is kept; once is enough."""
        last = self.book.ledger.last(path)
        if last is not None and last.station == self.station:
            return []
        return [self.entry(path, Before(not_kept=why), None, None)]

    def _seen(self, path: Path, last: Entry | None) -> Seen | None:
        """Return how the file is; None for what is neither file nor folder nor link.

        What this station itself left needs no copy: `last` holds what was there before.
        """
        limit = self.book.limit
        try:
            found = look(path)
            if found.kind == "other":
                return None
            if last is not None and last.becomes is not None and present(path) == last.becomes:
                return Seen(last.before, last.becomes, found.mode)
            if found.kind == "none":
                return Seen(Before(made_folder=first_missing(path)), NO_FILE)
            copy = self._kept(path, found)
        except TooBig:
            return Seen(Before(not_kept=f"it was over {sized(limit)}: of such files no copy is kept"), None)
        except OSError as error:
            return Seen(Before(not_kept=f"its copy could not be made ({error.strerror or error})"), None)
        return Seen(Before(copy=copy, mode=found.mode), copy, found.mode)

    def _kept(self, path: Path, found: Found) -> str:
        """Return the content's name, with a copy where it needs one. Raises TooBig, OSError."""
        if found.kind != "file":
            return present(path) or NO_FILE
        if found.size > self.book.limit:
            raise TooBig
        return self.book.copies.keep(path, self.book.limit)

    def _is_known(self, last: Entry | None, seen: str | None, becomes: str | None) -> bool:
        """Whether the same was written down already: a command may name a file several times."""
        if last is None or (last.station, last.becomes, becomes) != (self.station, None, None):
            return False
        return seen is not None and seen == last.seen

    def entry(self, path: Path, before: Before, seen: str | None, becomes: str | None) -> Entry:
        """Return an entry of this station."""
        return Entry(
            station=self.station,
            prompt=self.prompt,
            path=path,
            before=before,
            seen=seen,
            becomes=becomes,
            copies_in=self.book.copies.folder.name,
        )


def outcomes(book: Book, path: Path, station: str) -> tuple[list[Entry], list[Entry]]:
    """Say what came of a file, or of the files in a folder, where that was not known. Raises OSError.

    Returns entries that say what the changed ones are now, and the entries of those that did not change.
    """
    changed, unchanged = [], []
    for entry in book.ledger.unsettled(path, station):
        if entry.before.not_kept:
            continue
        content = present(entry.path) or NO_FILE
        if _has_changed(entry, content):
            changed.append(
                replace(
                    entry,
                    becomes=content,
                    mode=look(entry.path).mode if content else None,
                    copies_in=book.copies.folder.name,
                    by_hand=False,
                    time=now(),
                )
            )
        else:
            unchanged.append(entry)
    return changed, unchanged


def came_with(book: Book, folder: Path, files: Iterable[Path], station: str) -> list[Entry]:
    """Return entries of what came with a folder, if it was not there before. Raises OSError."""
    made = book.ledger.last(folder)
    if made is None or made.seen != NO_FILE or made.station != station:
        return []
    before = Before(made_folder=made.before.made_folder or str(folder))
    taking = Taking(book, station, made.prompt)
    new = [(file, present(file)) for file in files if book.ledger.last(file) is None]
    return [taking.entry(file, before, NO_FILE, content) for file, content in new if content]


def present(path: Path) -> str | None:
    """Return the name of the content that is there now; None for devices, pipes and such. Raises OSError."""
    match look(path).kind:
        case "none":
            return NO_FILE
        case "file":
            return digest_of(path)
        case "folder":
            return FOLDER
        case "link":
            return LINK + str(path.readlink())
        case _:
            return None


def sized(size: int) -> str:
    """Say how much that is."""
    return f"{size >> 20} MB" if size >= 1 << 20 else f"{size:,} bytes"


def _stays(seen: Seen, becomes: str | None, mode: int | None) -> bool:
    return seen.content is not None and seen.content == becomes and mode in (None, seen.mode)


def _mode_left(seen: Seen, becomes: str | None, mode: int | None) -> int | None:
    """Return the mode that a change leaves; a file that is made anew gets what the system gives it."""
    if not becomes:
        return None
    return seen.mode if mode is None and seen.content else mode


def _is_by_hand(seen: Seen, last: Entry) -> bool:
    """Whether the file is not as the session left it."""
    if seen.content is None:
        return False
    return not last.has_content(seen.content) or (bool(seen.content) and not last.has_mode(seen.mode))


def _has_changed(entry: Entry, content: str) -> bool:
    return content != entry.seen or (bool(content) and look(entry.path).mode != entry.before.mode)
