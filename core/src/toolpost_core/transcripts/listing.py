"""What a session is, from the head and the tail of its file: a list of many reads none of them whole."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import toolpost
from toolpost._frozen import frozen
from toolpost_core.transcripts.kinds import COPY
from toolpost_core.transcripts.migration import schema_of
from toolpost_core.transcripts.past import prompt_text
from toolpost_core.transcripts.reading import record_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from toolpost import KeptSession

END: Final = 64_000
"""Bytes of a file's head and tail that are read."""
LONG: Final = 1_000_000
"""The most that is read of a first record that is longer than that."""
TITLE_CHARS: Final = 200
TITLES: Final = ("custom-title", "ai-title")


@frozen(kw_only=True)
class SessionFile:
    """A session's transcript; `modified` is its time of last change in seconds since 1970, `created` a text.

    `project` is the folder that it began in, None where the file holds no conversation, and `cwd` where it is now.
    """

    id: str
    path: Path
    modified: float
    size: int
    project: Path | None = None
    cwd: Path | None = None
    created: str = ""
    branch: str = ""
    first_prompt: str = ""
    given_title: str = ""
    forked_from: str = ""

    @property
    def title(self) -> str:
        """What the session was called; its first prompt where nobody called it anything."""
        return self.given_title or self.first_prompt

    def kept(self) -> KeptSession:
        """Return it as front ends are told of it."""
        return toolpost.KeptSession(
            id=self.id,
            title=self.title,
            modified=self.modified,
            size=self.size,
            branch=self.branch,
            cwd=self.cwd,
        )


def look(path: Path) -> SessionFile | None:
    """Return what a file tells; None for what is no file or no session."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return None
        head, tail = _ends(path, status.st_size)
    except OSError:
        return None
    first: Mapping[str, Any] = next(_heads(head, "user"), {})
    last: Mapping[str, Any] = next((record for record in _heads(reversed(tail)) if "cwd" in record), first)
    if first.get("isSidechain"):
        return None
    begun: Mapping[str, Any] = next(_heads(head, COPY), first)
    origin = first.get("forkedFrom")
    return SessionFile(
        id=path.stem,
        path=path,
        modified=status.st_mtime,
        size=status.st_size,
        project=_path(begun.get("cwd")),
        cwd=_path(last.get("cwd")),
        created=str(first.get("timestamp", "")),
        branch=str(last.get("gitBranch") or ""),
        first_prompt=_title(next(filter(None, map(prompt_text, _whole(head, b'"user"'))), "")),
        given_title=_given(tail, "customTitle") or _given(tail, "aiTitle"),
        forked_from=str(origin.get("sessionId", "")) if isinstance(origin, dict) else "",
    )


def is_ours(path: Path) -> bool:
    """Whether Toolpost wrote a record of the head or tail; other programs keep files of the kind. Raises OSError."""
    lines = (line for end in _ends(path, path.stat().st_size) for line in end)
    return any(schema_of(record) for record in _heads(lines))


def _ends(path: Path, size: int) -> tuple[list[bytes], list[bytes]]:
    """Read the lines of the head and of the tail. Raises OSError."""
    with path.open("rb") as file:
        head = file.read(END)
        if size > END and b"\n" not in head:
            head += file.readline(LONG)
        if size <= END:
            return head.split(b"\n"), head.split(b"\n")
        file.seek(size - END)
        return head.split(b"\n"), file.read(END).split(b"\n")[1:]


def _heads(lines: Iterable[bytes], kind: str = "") -> Iterator[Mapping[str, Any]]:
    """Yield what records say before their message: that is short, and there even where the rest is cut off."""
    for line in lines:
        start, cut, _ = line.partition(b',"message":')
        record = record_of(start + b"}" if cut else line) if line.strip() else None
        if record is not None and (not kind or record.get("type") == kind):
            yield record


def _whole(lines: Iterable[bytes], word: bytes) -> Iterator[Mapping[str, Any]]:
    """Yield the records of lines that hold a word."""
    return (record for line in lines if word in line and (record := record_of(line)) is not None)


def _given(tail: Sequence[bytes], key: str) -> str:
    """Return the last title of a kind."""
    named = (record for record in _whole(reversed(tail), f'"{key}"'.encode()) if record.get("type") in TITLES)
    return _title(next((record[key] for record in named if record.get(key)), ""))


def _title(text: object) -> str:
    return " ".join(text.split())[:TITLE_CHARS] if isinstance(text, str) else ""


def _path(value: object) -> Path | None:
    return Path(value) if isinstance(value, str) else None
