"""What the turn of each prompt changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from toolpost import TurnChanges

from .copies import is_copy
from .entries import Entry
from .ledger import by_path
from .lines import changed_lines
from .places import look
from .taking import present

if TYPE_CHECKING:
    from pathlib import Path

    from .book import Book

MOST_BYTES: Final = 2_000_000
"""Of a bigger file the lines are not counted here: many prompts are looked at, for a list."""


def turns(book: Book) -> Mapping[str, TurnChanges]:
    """Return the changes by the prompt's id."""
    found: dict[str, TurnChanges] = {}
    for path, entries in by_path(book.ledger.entries).items():
        for index, entry in enumerate(entries):
            is_prompt = entry.station == entry.prompt
            if is_prompt and (index == 0 or entries[index - 1].station != entry.station):
                _count(found, book, path, entries[index:])
    return found


def _count(found: dict[str, TurnChanges], book: Book, path: Path, entries: list[Entry]) -> None:
    """Add what a station, the one of the first entry, made of a file; what came after it says what it left."""
    first = entries[0]
    later = next((entry for entry in entries if entry.station != first.station), None)
    try:
        left = later.seen if later is not None else present(path)
        mode = later.before.mode if later is not None else look(path).mode
        if left is not None and ((first.seen, first.before.mode) == (left, mode) or _no_files(first.seen, left)):
            return
        added, removed = _lines(book, path, first.seen, left, present=later is None)
    except OSError:
        added, removed = 0, 0
    so_far = found.get(first.station, TurnChanges(files=0, added=0, removed=0))
    found[first.station] = TurnChanges(
        files=so_far.files + 1, added=so_far.added + added, removed=so_far.removed + removed
    )


def _no_files(*contents: str | None) -> bool:
    """Whether it is known that there are folders and links only."""
    return not any(content is None or is_copy(content) for content in contents)


def _lines(book: Book, path: Path, old: str | None, new: str | None, *, present: bool) -> tuple[int, int]:
    """Count the lines between two contents; `present` says that the new one is the file as it is."""
    if old is None or new is None:
        return 0, 0
    sources = [book.copies.folder / old, path if present else book.copies.folder / new]
    texts = [_read(source) if is_copy(name) else b"" for name, source in zip((old, new), sources, strict=True)]
    return changed_lines(*texts) or (0, 0)


def _read(source: Path) -> bytes:
    """Return a content; of one that is too big, what is taken for no text."""
    return source.read_bytes() if source.stat().st_size <= MOST_BYTES else b"\0"
