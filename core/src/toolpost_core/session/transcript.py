"""The transcript: append-only JSONL, one record a line, on disk before the next request is sent.

Records follow the shape that readers of such files rely on (compat.md section 9): `type`, `uuid`, `parentUuid`,
`sessionId`, `timestamp`, `cwd`, `version`, `message`. An answer has one record for each of its blocks, sharing
`message.id`; each result of a call has one of its own, written as soon as the call is done.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from toolpost import SessionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

REPLACEMENT: Final = "content-replacement"
"""The type of a record that says what is sent in the place of a result that was too long beside others."""
REWIND: Final = "conversation-rewind"
"""The type of a record that says that the conversation went back, to behind the record `leafUuid`."""
USAGE: Final = "answer-usage"
"""The type of a record that says what an answer used in all: its blocks are kept before that is known."""

TITLE: Final = "custom-title"
"""The type of a record that says what the session is called."""


class Transcript:
    """Appends to one session's file.

    The file is locked while it is open, so that two processes never write to one session; the lock goes with the
    process, however it ends. A write that fails is reported once; the run goes on.
    """

    def __init__(
        self,
        path: Path | None,
        session_id: str,
        version: str,
        report: Callable[[str], None],
        parent: str | None = None,
    ) -> None:
        self.path = path
        self.session_id = session_id
        self._version = version
        self._report = report
        self._fd: int | None = None
        self._broken = False
        self.parent = parent

    def message(
        self, kind: str, message: Mapping[str, Any], cwd: Path, *, uuid: str | None = None, **extra: Any
    ) -> str:
        """Append a message to the chain; returns its uuid, a new one unless given."""
        uuid = uuid or str(uuid4())
        self._append(
            {
                "type": kind,
                "uuid": uuid,
                "parentUuid": self.parent,
                "sessionId": self.session_id,
                "timestamp": now(),
                "cwd": str(cwd),
                "version": self._version,
                "message": message,
                **extra,
            }
        )
        self.parent = uuid
        return uuid

    def copy(self, records: Iterable[Mapping[str, Any]], leaf: str | None) -> None:
        """Begin with the records of another session; the chain goes on behind `leaf`."""
        for record in records:
            self._append({**record, "sessionId": self.session_id})
        self.parent = leaf

    def side(self, kind: str, **fields: Any) -> None:
        """Append a record that is no part of the chain."""
        self._append({"type": kind, "sessionId": self.session_id, "timestamp": now(), **fields})

    def epilogue(self, kind: str, **fields: Any) -> None:
        """Append a record at the end, where anything was kept at all: it alone makes no session."""
        if self._fd is not None:
            self.side(kind, **fields)

    def close(self) -> None:
        """Close the file and give up its lock."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def lock(self) -> None:
        """Open and lock the file; raises SessionError where another process has it."""
        if self.path is None or self._broken or self._fd is not None:
            return
        try:
            self._fd = _open(self.path)
        except OSError as error:
            self._fail(error)

    def _append(self, record: Mapping[str, Any]) -> None:
        if self.path is None or self._broken:
            return
        line = _line(record)
        self.lock()
        if self._fd is None:
            return
        try:
            _write_all(self._fd, line)
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        self._broken = True
        self._report(
            f"The transcript {self.path} can't be written ({error.strerror}): the run goes on, but this session can be "
            "resumed only up to here. Free some space, or mend the folder's rights, then start a new session."
        )


def _line(record: Mapping[str, Any]) -> bytes:
    """Return a record as a line; data of a plugin that is no JSON is left out."""
    try:
        text = _json(record)
    except (TypeError, ValueError, RecursionError):
        text = _json({key: value for key, value in record.items() if key != "toolUseResult"})
    try:
        return text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return _json(json.loads(text), ensure_ascii=True).encode()


def _json(value: object, *, ensure_ascii: bool = False) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, separators=(",", ":"), default=str) + "\n"


def _open(path: Path) -> int:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise SessionError(
            f"The session {path.stem} is in use by another process{_owner(path)}. End that one, or go on in a copy: "
            f"--resume {path.stem} --fork-session"
        ) from None
    # A record that was cut off by a crash must not be glued to the next one.
    size = os.lseek(fd, 0, os.SEEK_END)
    if size and os.pread(fd, 1, size - 1) != b"\n":
        os.write(fd, b"\n")
    return fd


def _owner(path: Path) -> str:
    """Say which process holds the lock, where the system tells (Linux: /proc/locks by inode)."""
    try:
        inode = path.stat().st_ino
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return ""
    held = [line.split() for line in lines if f":{inode} " in line]
    return f" (pid {held[0][4]})" if held else ""


def _write_all(fd: int, data: bytes) -> None:
    """Write everything or, as far as that is possible, nothing: a record that was cut off is taken back."""
    start = os.lseek(fd, 0, os.SEEK_END)
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(fd, view) :]
    except OSError:
        os.ftruncate(fd, start)
        raise


def now() -> str:
    """Return this moment in ISO 8601."""
    seconds = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03d}Z"
