"""What is recorded of a change, and its shape in the transcript (compat.md section 9)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, overload

from .copies import is_copy

KIND: Final = "file-history-snapshot"
NO_FILE: Final = ""
"""The content's name where there was, or will be, nothing."""
FOLDER: Final = "folder"
"""The content's name of a folder; what is in it has entries of its own."""
LINK: Final = "link:"
"""What the content's name of a symbolic link begins with; its text follows."""


def now() -> str:
    """Return this moment in ISO 8601."""
    seconds = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03d}Z"


@dataclass(frozen=True, kw_only=True)
class Before:
    """What stood at a path before a change: mostly a file.

    `copy` names its content; `NO_FILE`, `FOLDER` and `LINK` name those that need no copy. `not_kept` says why there is
    no copy. `made_folder` is the topmost folder that was not there yet and that a file which is made there needs.
    """

    copy: str = NO_FILE
    mode: int = 0o644
    not_kept: str = ""
    made_folder: str = ""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One change of one file.

    `station` is what can be gone back to: a prompt's id, or a rewind's own. `prompt` is the last prompt at that time.
    `before` is the file as the station found it, `seen` names the content right before this change, None where that is
    not known. `becomes` names the content that the change leaves and `mode` is the mode, None as long as they are not
    known. `by_hand` says that the file was not as the session had left it. `copies_in` names the folder with the copy.
    """

    station: str
    prompt: str
    path: Path
    before: Before
    seen: str | None
    becomes: str | None
    copies_in: str
    mode: int | None = None
    by_hand: bool = False
    version: int = 1
    time: str = field(default_factory=now)

    def has_content(self, content: str) -> bool:
        """Whether the change found or left that content; a folder comes and goes with the files in it."""
        return content in (self.becomes, self.seen) or FOLDER in (content, self.becomes, self.seen)

    def has_mode(self, mode: int) -> bool:
        """Whether a file with that mode may be as the change found or left it."""
        return self.mode is None or mode in (self.mode, self.before.mode)


def as_record(entries: Sequence[Entry], *, update: bool) -> dict[str, Any]:
    """Return the fields of the record of entries that were made at once; `update` says that their station had others."""
    first = entries[0]
    return {
        "messageId": first.station,
        "snapshot": {
            "messageId": first.station,
            "trackedFileBackups": {str(entry.path): _backup(entry) for entry in entries},
            "timestamp": first.time,
        },
        "isSnapshotUpdate": update,
        "promptId": first.prompt,
        "copiesIn": first.copies_in,
    }


def _backup(entry: Entry) -> dict[str, Any]:
    before = entry.before
    backup: dict[str, Any] = {
        "backupFileName": before.copy if is_copy(before.copy) else None,
        "version": entry.version,
        "backupTime": entry.time,
        "mode": before.mode,
    }
    if before.copy and not is_copy(before.copy):
        backup["stood"] = before.copy
    if entry.seen is not None and entry.seen != before.copy:
        backup["seen"] = entry.seen or None
    if entry.becomes is not None:
        backup["becomes"] = entry.becomes or None
    if entry.mode is not None:
        backup["becomesMode"] = entry.mode
    if before.not_kept:
        backup["notKept"] = before.not_kept
    if before.made_folder:
        backup["madeFolder"] = before.made_folder
    if entry.by_hand:
        backup["byHand"] = True
    return backup


def from_record(record: Mapping[str, Any], copies_in: str) -> Iterator[Entry]:
    """Yield the entries of a record; what does not have the shape is passed over.

    `copies_in` is the folder with the copies where the record does not say.
    """
    match record:
        case {"messageId": str(station), "snapshot": {"trackedFileBackups": dict(backups)}}:
            for path, backup in backups.items():
                if isinstance(backup, dict) and Path(path).is_absolute():
                    yield _entry(record, station, Path(path), backup, copies_in)


def as_retraction(entries: Sequence[Entry]) -> dict[str, Any]:
    """Return the fields of the record that says that the newest entries of files were no changes."""
    first = entries[0]
    return {
        "messageId": first.station,
        "snapshot": {"messageId": first.station, "trackedFileBackups": {}, "timestamp": now()},
        "isSnapshotUpdate": True,
        "unchanged": [str(entry.path) for entry in entries],
    }


def retracted(record: Mapping[str, Any]) -> list[Path]:
    """Return the files of which a record says that they were not changed."""
    paths = record.get("unchanged")
    return [Path(path) for path in paths if isinstance(path, str)] if isinstance(paths, list) else []


def _entry(record: Mapping[str, Any], station: str, path: Path, backup: Mapping[str, Any], otherwise: str) -> Entry:
    copy = backup.get("backupFileName")
    foreign = copy is not None and not (isinstance(copy, str) and is_copy(copy))
    before = Before(
        copy=_without_copy(backup) if copy is None or foreign else str(copy),
        mode=_mode(backup, "mode", 0o644),
        not_kept="its copy was made by another program" if foreign else str(backup.get("notKept", "")),
        made_folder=str(backup.get("madeFolder", "")),
    )
    copies_in = str(record.get("copiesIn") or otherwise)
    version = backup.get("version")
    return Entry(
        station=station,
        prompt=str(record.get("promptId", station)),
        path=path,
        before=before,
        seen=None if before.not_kept else _content(backup, "seen", before.copy),
        becomes=_content(backup, "becomes", None),
        mode=_mode(backup, "becomesMode", None),
        copies_in=copies_in if "/" not in copies_in and copies_in not in (".", "..") else otherwise,
        by_hand=backup.get("byHand") is True,
        version=version if isinstance(version, int) else 1,
        time=str(backup.get("backupTime", "")),
    )


def _without_copy(backup: Mapping[str, Any]) -> str:
    """Return the name of what needs no copy."""
    stood = backup.get("stood")
    return stood if isinstance(stood, str) and (stood == FOLDER or stood.startswith(LINK)) else NO_FILE


@overload
def _mode(backup: Mapping[str, Any], key: str, otherwise: int) -> int: ...
@overload
def _mode(backup: Mapping[str, Any], key: str, otherwise: None) -> int | None: ...
def _mode(backup: Mapping[str, Any], key: str, otherwise: int | None) -> int | None:
    mode = backup.get(key)
    return mode & 0o7777 if isinstance(mode, int) else otherwise


def _content(backup: Mapping[str, Any], key: str, otherwise: str | None) -> str | None:
    """Return the name of a content; `otherwise` where none is told."""
    name = backup.get(key, otherwise)
    return NO_FILE if name is None and key in backup else name if isinstance(name, str) else otherwise
