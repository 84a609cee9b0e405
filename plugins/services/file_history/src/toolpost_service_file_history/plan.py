"""What rewinding would do, file by file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from toolpost import FileRewind, SessionError

from .book import Book
from .copies import Damaged, is_copy
from .entries import FOLDER, LINK, NO_FILE, Before, Entry
from .ledger import by_path
from .lines import changed_lines
from .places import Found, look, real
from .taking import present, sized

if TYPE_CHECKING:
    Change = Literal["changed", "created", "deleted"]


@dataclass(frozen=True, kw_only=True)
class Step:
    """One file to rewind: how it is shown, what it was, and what it is: the content's name and the mode."""

    shown: FileRewind
    before: Before
    present: str = NO_FILE
    mode: int = 0o644

    @property
    def path(self) -> Path:
        """The file."""
        return self.shown.path


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A step for each file that is not as it was, by path; and the folders that were made, which go if they are empty."""

    steps: Sequence[Step]
    made_folders: Set[Path]


def plan(book: Book, target: str, prompts: Sequence[str]) -> Plan:
    """Say what is to be done. Raises SessionError for an unknown id."""
    entries = book.ledger.since(target, prompts)
    if entries is None:
        raise SessionError(f"This session has no prompt {target[:80]!r}, and no rewind of that id.")
    found = by_path(entries)
    paths = sorted(found.keys() - _made_since(entries))
    steps = [step for path in paths if (step := _step(book, path, found[path])) is not None]
    stay = {path for path in paths if found[path][0].before.copy == FOLDER}
    return Plan(steps=steps, made_folders={folder for path in paths for folder in _made_for(found[path][0], stay)})


def _made_for(first: Entry, stay: Set[Path]) -> Iterator[Path]:
    """Yield the folders that were made for a file, but for those that are to `stay` as they were there at first."""
    top = first.before.made_folder
    above = first.path.parents if top else ()
    return takewhile(lambda folder: folder not in stay and folder.is_relative_to(top), above)


def _made_since(entries: Sequence[Entry]) -> set[Path]:
    """Return the folders that were made for a file before they were changed themselves, and were not there at first."""
    made: set[str] = set()
    known: set[Path] = set()
    there: set[Path] = set()
    found = set()
    for entry in entries:
        if entry.path not in known and entry.before.copy != NO_FILE:
            is_made = entry.path not in there and any(map(entry.path.is_relative_to, made))
            if entry.before.copy == FOLDER and is_made:
                found.add(entry.path)
            else:
                there.update(entry.path.parents)
        known.add(entry.path)
        if entry.before.made_folder:
            made.add(entry.before.made_folder)
    return found


def _step(book: Book, path: Path, changes: Sequence[Entry]) -> Step | None:
    before = changes[0].before
    try:
        now = look(path)
        content = (present(path) or NO_FILE) if now.size <= book.limit else NO_FILE
        if not before.not_kept and _is_as_before(now, content, before, changes[-1].becomes):
            return None
        problem = _problem(book, path, changes[0], now)
        added, removed = (None, None) if problem else _lines(book, path, content, before)
    except OSError as error:
        return _unreadable(path, before, f"it can't be read: {error.strerror or error}")
    except Damaged:
        return _unreadable(path, before, "its copy is damaged")
    shown = FileRewind(
        path=path,
        change=_change(now, before),
        added=added,
        removed=removed,
        by_hand="" if problem else _by_hand(changes, content, now.mode),
        problem=problem,
    )
    return Step(shown=shown, before=before, present=content, mode=now.mode)


def _is_as_before(now: Found, content: str, before: Before, left: str | None) -> bool:
    """Whether there is nothing to do; a folder or link where nothing was goes only if the session `left` that."""
    if before.copy == NO_FILE:
        return now.kind in ("none", "other") or (now.kind != "file" and content != left)
    return content == before.copy and (now.kind == "link" or now.mode == before.mode)


def _problem(book: Book, path: Path, first: Entry, now: Found) -> str:
    """Say why a file can't be rewound."""
    if first.before.not_kept:
        return first.before.not_kept
    kind = _kind(first.before.copy)
    is_other = kind != "none" and now.kind not in ("none", kind)
    if real(path.parent) != path.parent or (is_other and now.kind == "link"):
        return "a symbolic link has come into its path"
    if is_other:
        return "something else has come into its place"
    if now.size > book.limit:
        return f"it is over {sized(book.limit)} now, so that no copy of its present state could be kept"
    copy = first.before.copy
    if not is_copy(copy) or book.copies.has(copy):
        return ""
    removed = book.ledger.is_dropped(first)
    return "its copy was removed: there have been too many changes since" if removed else "its copy is gone"


def _kind(content: str) -> str:
    """Return the kind, as `Found` has it, of what a content's name stands for."""
    if content in (NO_FILE, FOLDER):
        return "folder" if content else "none"
    return "link" if content.startswith(LINK) else "file"


def _by_hand(changes: Sequence[Entry], content: str, mode: int) -> str:
    """Say what somebody else changed since the first of the changes."""
    last = changes[-1]
    if not last.has_content(content):
        if last.becomes is None:
            return "it is not known what the session's last change left: it was interrupted, or still goes on"
        return "it was changed by hand since the session last changed it"
    if content and not last.has_mode(mode):
        return "its mode was changed by hand since the session last changed it"
    if any(change.by_hand for change in changes[1:]):
        return "it was changed by hand between two changes of the session"
    return ""


def _lines(book: Book, path: Path, content: str, before: Before) -> tuple[int | None, int | None]:
    old = path.read_bytes() if is_copy(content) else b""
    new = book.copies.read(before.copy) if is_copy(before.copy) else b""
    return changed_lines(old, new) or (None, None)


def _change(now: Found, before: Before) -> Change:
    if not before.not_kept and before.copy == NO_FILE:
        return "created"
    return "deleted" if now.kind == "none" else "changed"


def _unreadable(path: Path, before: Before, why: str) -> Step:
    return Step(shown=FileRewind(path=path, change="changed", problem=why), before=before)
