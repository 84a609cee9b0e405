"""Reading a transcript's lines: all of them, or from where the conversation that is sent begins."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

from toolpost import SessionError
from toolpost_core.transcripts.kinds import BOUNDARY, SCHEMA
from toolpost_core.transcripts.migration import is_newer, migrated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

GUARD: Final = 50_000_000
"""The most bytes of a transcript that are read to go on with it; of a longer conversation that is the end."""
CHUNK: Final = 1 << 20
MARK: Final = f'"subtype":"{BOUNDARY}"'.encode()
HEAD: Final = b'{"type":"'
BOM: Final = b"\xef\xbb\xbf"
"""What some editors put at the beginning of a file that they save."""
FORM: Final = re.compile(rb'"schema": ?(\d{1,9})')


class Line(NamedTuple):
    """A line: where it stands, and its record; None for one that is damaged."""

    number: int
    offset: int
    record: Mapping[str, Any] | None


def records_of(path: Path, kind: str = "") -> list[Mapping[str, Any]]:
    """Read a transcript's records, or those of a type; damaged lines are passed over. Raises SessionError."""
    return list(records_in(path, kind))


def records_in(path: Path, kind: str = "", start: int = 0) -> Iterator[Mapping[str, Any]]:
    """Read a transcript's records one by one, or those of a type. Raises SessionError."""
    wanted = kind.encode()
    for line in lines_in(path, start, lambda raw: wanted in raw):
        if line.record is not None and (not kind or line.record.get("type") == kind):
            yield line.record


def is_partly_known(path: Path) -> bool:
    """Whether a newer version wrote records of a form that this one does not know. Raises SessionError."""
    lines = lines_in(path, wanted=lambda raw: any(int(form) > SCHEMA for form in FORM.findall(raw)))
    return any(line.record is not None and is_newer(line.record) for line in lines)


def lines_in(
    path: Path, start: int = 0, wanted: Callable[[bytes], bool] | None = None, *, end: int | None = None
) -> Iterator[Line]:
    """Read the lines from an offset on, without blank ones and those that `wanted` refuses. Raises SessionError.

    A line that goes on behind `end` is cut there.
    """
    try:
        with path.open("rb") as file:
            file.seek(start)
            offset = start
            lines = file if end is None else _lines_up_to(file, start, end)
            for number, raw in enumerate(lines, 1):
                if raw.strip() and (wanted is None or wanted(raw)):
                    yield Line(number, offset, record_of(raw))
                offset += len(raw)
    except OSError as error:
        raise unreadable(path, error) from error


def _lines_up_to(file: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    while start < end and (raw := file.readline(end - start)):
        start += len(raw)
        yield raw


def unreadable(path: Path, error: OSError) -> SessionError:
    """Say that a session's file can't be read, and how to go on."""
    return SessionError(
        f"The session file {path} can't be read: {error.strerror or error}. Mend that, and resume it then; a new session "
        "leaves the file as it is."
    )


def kind_of(raw: bytes) -> bytes:
    """Return the type of a line's record without reading it; empty where that would take reading it."""
    end = raw.find(b'"', len(HEAD), len(HEAD) + 80) if raw.startswith(HEAD) else -1
    return raw[len(HEAD) : end] if end > 0 else b""


def last_boundary(file: BinaryIO, floor: int, end: int) -> int | None:
    """Return the offset of the last line from `floor` to `end` that is a compaction's boundary; None where there is none."""
    behind = b""  # the beginning of what was read before: a mark may be cut in two
    while end > floor:
        start = max(end - CHUNK, floor)
        file.seek(start)
        data = file.read(end - start) + behind
        found = len(data)
        while (found := data.rfind(MARK, 0, found)) >= 0:
            line = _line_start(file, floor, start + found)
            if _is_boundary_line(file, line):
                return line
        behind = data[: len(MARK) - 1]
        end = start
    return None


def _line_start(file: BinaryIO, floor: int, offset: int) -> int:
    """Return where the line begins that an offset is in."""
    while offset > floor:
        start = max(offset - CHUNK, floor)
        file.seek(start)
        newline = file.read(offset - start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        offset = start
    return floor


def _is_boundary_line(file: BinaryIO, offset: int) -> bool:
    """Whether a line is a boundary of ours, which needs nothing before it; a message may quote one."""
    file.seek(offset)
    record = record_of(file.readline())
    facts = record.get("compactMetadata") if record is not None and record.get("subtype") == BOUNDARY else None
    return isinstance(facts, Mapping) and isinstance(facts.get("messages"), int)


def record_of(raw: bytes) -> Mapping[str, Any] | None:
    """Return the record of a line; None where it is damaged."""
    try:
        record = json.loads(raw.removeprefix(BOM).decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return None
    return migrated(record) if isinstance(record, dict) else None
