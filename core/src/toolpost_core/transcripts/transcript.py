"""The transcript: append-only JSONL, one record a line, on disk before the next request is sent.

Records follow the shape that readers of such files rely on (compat.md section 9): `type`, `uuid`, `parentUuid`,
`sessionId`, `timestamp`, `cwd`, `version`, `message`. An answer has one record for each of its blocks, sharing
`message.id`; each result of a call has one of its own, written as soon as the call is done.
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from toolpost import SessionError
from toolpost_core.events.outside import Outside
from toolpost_core.transcripts.branches import Branches
from toolpost_core.transcripts.kinds import BOUNDARY, COPY, QUEUE, REPLACEMENT, SCHEMA, TITLE, TOMBSTONE
from toolpost_core.transcripts.lines import LONG, line_of, now, write_all
from toolpost_core.transcripts.locks import open_locked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from toolpost import ContentBlock, Message
    from toolpost_core.transcripts.history import History

STATE_EVERY: Final = 48_000
"""Bytes after which the state is written anew; a reader of the last 64 kB finds it."""


_TO_WRITE: Final = "Free some space: what is missing is written as soon as there is room."
_TO_OPEN: Final = "Mend the rights of its folder, or free some space: what is missing is written as soon as it can be."


class Transcript:
    """Appends to one session's file. Each record of its chain has the fields `marks` as well.

    The file is locked while it is open, so that two processes never write to one session; the lock goes with the
    process, however it ends. A write that fails is reported once; the run goes on, and what is missing waits for the next
    write, as a full disk may have room again by then. `failure` says why the file has not all that it should, if so.
    """

    def __init__(
        self,
        path: Path | None,
        session_id: str,
        version: str,
        report: Callable[[str], None],
        parent: str | None = None,
        *,
        marks: Mapping[str, Any] = MappingProxyType({}),
        states: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
        outside: Outside | None = None,
    ) -> None:
        self.path = path
        self.session_id = session_id
        self._version = version
        self._report = report
        self._marks = marks
        self._outside = outside or Outside()
        self._fd: int | None = None
        self._close: Callable[[], None] | None = None
        self.failure = ""
        self._missing: deque[Sequence[Mapping[str, Any]]] = deque()
        self._states = dict(states)
        self._branches = Branches()
        self._waiting: dict[str, Mapping[str, Any]] = {}
        self._unwritten: set[str] = set()
        self._behind = 0
        self.parent = parent

    def message(
        self, kind: str, message: Mapping[str, Any], cwd: Path, *, uuid: str | None = None, **extra: Any
    ) -> str:
        """Append a message to the chain; returns its uuid, a new one unless given."""
        record = self._link(kind, cwd, uuid=uuid, message=message, **extra)
        self._append(record)
        for state in sorted(self._unwritten):
            self._write_state(state)
        return str(record["uuid"])

    def boundary(
        self,
        messages: Sequence[Message],
        cwd: Path,
        *,
        kept: int = 0,
        trigger: str = "auto",
        pre_tokens: int = 0,
        **metadata: Any,
    ) -> tuple[Message, ...]:
        """Begin the conversation anew with what a compaction left of it.

        The last `kept` of the messages are taken over as they were, those before are the summary. Returns the messages as
        a resume reads them: whoever goes on with these sends the same bytes as one that resumes. Nothing before the
        boundary is needed for that, so that a resume reads the end of the file only. All is written at once, and counts
        only where it is all there.
        """
        from toolpost_core.transcripts.mending import repaired

        told = repaired(messages)
        before, self.parent = self.parent, None
        facts = {"trigger": trigger, "preTokens": pre_tokens, **metadata, "messages": len(told)}
        mark = self._link("system", cwd, subtype=BOUNDARY, logicalParentUuid=before, compactMetadata=facts)
        summaries = max(len(told) - kept, 1)
        records = [mark]
        for index, message in enumerate(told):
            what = {"isCompactSummary" if index < summaries else "isMeta": True}
            records.append(
                self._link(message["role"], cwd, **{"message": message, "boundaryUuid": mark["uuid"], **what})
            )
        waiting = [self._side(QUEUE, fields) for fields in self._waiting.values()]
        self._append(*records, *(self._side(kind, fields) for kind, fields in self._states.items()), *waiting)
        self._behind = 0
        self._unwritten.clear()
        return told

    def discard(self, uuids: Iterable[str]) -> None:
        """Say that records count as never said: an answer that was cut off, and the results of calls that it made."""
        self.side(TOMBSTONE, uuids=list(uuids))

    def replace(self, tool_use_id: str, content: Any) -> None:
        """Say what is sent in the place of a result that was too long beside others."""
        self.side(REPLACEMENT, replacements=[{"toolUseId": tool_use_id, "replacement": content}])

    def replace_block(self, old: ContentBlock, new: ContentBlock) -> None:
        """Say what is sent in the place of a block that the service refused."""
        from toolpost_core.transcripts.replaced import replacement

        self.side(REPLACEMENT, replacements=[replacement(old, new)])

    def state(self, kind: str, /, **fields: Any) -> None:
        """Keep what is so from now on (one of STATES); before the first message it waits for that."""
        if self._states.get(kind) == fields:
            return
        self._states[kind] = fields
        self._unwritten.add(kind)
        if self._fd is not None:
            self._write_state(kind)

    def has_state(self, kind: str) -> bool:
        """Whether such a state was kept."""
        return kind in self._states

    def side(self, kind: str, /, **fields: Any) -> None:
        """Append a record that is no part of the chain."""
        if kind == QUEUE:
            self._note_waiting(fields)
        self._append(self._side(kind, fields))

    def epilogue(self, kind: str, /, **fields: Any) -> None:
        """Append a record at the end, where anything was kept at all: it alone makes no session."""
        if self._fd is not None:
            self.side(kind, **fields)

    def fork(self, history: History, project: Path | None = None) -> None:
        """Begin with what another session has said; records keep their ids, by which those of plugins name them.

        The copy belongs to `project`, or to the folder of that session.
        """
        from toolpost_core.transcripts.forking import copied

        if project is not None:
            self.side(COPY, cwd=str(project))
        for record in copied(history, self.session_id):
            self._append(record)
        self.parent = history.leaf
        self._states = dict(history.states)
        if history.title:
            self.state(TITLE, customTitle=f"{history.title} (fork)")

    def close(self) -> None:
        """Close the file and give up its lock."""
        if self._missing:
            self._write(())
        if self._close is not None:
            self._close()
        self._fd = self._close = None

    def lock(self, size: int | None = None) -> None:
        """Open and lock the file, one of so many bytes or a new one.

        Raises SessionError where another process has it, or wrote to it since `size` was read, or where it is there and
        can't be written. A new file may still be made when there is something to write.
        """
        if self.path is None or self._fd is not None:
            return
        try:
            self._fd, self._close = open_locked(self.path, size)
        except OSError as error:
            if size is not None:
                raise _not_writable(self.path, error) from error
            self._fail(error, _TO_OPEN)

    def _open(self) -> None:
        """Make the file. Raises SessionError where another process has it; one that came up since a failure is not ours."""
        if not self.failure:
            self.lock()
            return
        with suppress(SessionError):
            self.lock(0)

    def _link(self, kind: str, cwd: Path, *, uuid: str | None = None, **fields: Any) -> dict[str, Any]:
        """Return a record of the chain; the next one goes behind it."""
        uuid = uuid or self._outside.new_id()
        record = {
            "type": kind,
            "uuid": uuid,
            "parentUuid": self.parent,
            "sessionId": self.session_id,
            "timestamp": now(self._outside.now()),
            "cwd": str(cwd),
            "version": self._version,
            "gitBranch": self._branches.of(cwd),
            "schema": SCHEMA,
            **self._marks,
            **fields,
        }
        self.parent = uuid
        return record

    def _side(self, kind: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "type": kind,
            "sessionId": self.session_id,
            "timestamp": now(self._outside.now()),
            "schema": SCHEMA,
            **fields,
        }

    def _note_waiting(self, fields: Mapping[str, Any]) -> None:
        """What waits is written anew behind a boundary."""
        if fields.get("operation") == "enqueue":
            self._waiting[str(fields.get("queuedId"))] = fields
        else:
            self._waiting.pop(str(fields.get("queuedId")), None)

    def _write_state(self, kind: str) -> None:
        self._unwritten.discard(kind)
        self.side(kind, **self._states[kind])

    def _append(self, *records: Mapping[str, Any]) -> None:
        """Write records at once, and the state behind them where the last time was long ago."""
        self._write(records)
        if self._behind > STATE_EVERY:
            self._write([self._side(kind, fields) for kind, fields in self._states.items()])
            self._unwritten.clear()
            self._behind = 0

    def _write(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Write records at once: all of them or, as far as that is possible, none. Those that are missing go before them."""
        if self.path is None:
            return
        if self._fd is None:
            self._open()
        self._missing.append(records)
        if self._fd is None:
            return
        try:
            while self._missing:
                self._write_all(self._fd, self._missing[0])
                self._missing.popleft()
        except OSError as error:
            self._fail(error, _TO_WRITE)
            return
        if self.failure:
            self.failure = ""
            self._report(f"The transcript {self.path} can be written again, and nothing is missing in it.")

    def _write_all(self, fd: int, records: Sequence[Mapping[str, Any]]) -> None:
        """Write records at once. Raises OSError."""
        data = b"".join(self._short(line_of(record), record) for record in records)
        write_all(fd, data)
        self._behind += len(data)

    def _short(self, line: bytes, record: Mapping[str, Any]) -> bytes:
        """Return the line, or one that names a file that has its message. Raises OSError."""
        if len(line) <= LONG or "message" not in record or self.path is None:
            return line
        from toolpost_core.transcripts.spilling import spilled

        return line_of(spilled(record, self.path))

    def _fail(self, error: OSError, advice: str) -> None:
        told, self.failure = self.failure, error.strerror or os.strerror(error.errno or 0)
        if not told:
            self._report(
                f"The transcript {self.path} can't be written ({self.failure}): the run goes on, but this session can be "
                f"resumed only up to here. {advice}"
            )


def _not_writable(path: Path, error: OSError) -> SessionError:
    return SessionError(
        f"The session file {path} can't be written: {error.strerror or error}. Mend its rights, or go on in a copy: "
        f"--resume {path.stem} --fork-session"
    )
