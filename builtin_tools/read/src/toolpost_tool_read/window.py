"""The lines of a file that a Read asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

LINES = 2_000
"""Lines given where no limit is asked for."""
LINE_CHARS = 2_000
"""Characters shown of one line."""
BLOCK = 1 << 20
BYTES_A_TOKEN = 4
"""A low estimate for code and English prose."""

_LETTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Window:
    """Lines as they stand in the file; `start` counts from 1."""

    lines: Sequence[str]
    start: int
    total: int
    cut_by_size: bool = False

    @property
    def end(self) -> int:
        """The number of the last line shown."""
        return self.start + len(self.lines) - 1

    @property
    def partial(self) -> bool:
        """Whether the file has lines outside of it."""
        return self.start > 1 or self.end < self.total


def of_text(text: str, start: int, limit: int, max_tokens: int) -> Window:
    """Take the window out of a whole text."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return _fitted(lines[start - 1 : start - 1 + limit], start, len(lines), max_tokens)


def of_big_file(file: BinaryIO, start: int, limit: int, max_tokens: int) -> Window:
    """Take the window out of a file too big to hold, and close it; it blocks, so it is run in a thread."""
    wanted: list[str] = []
    with file:
        skipped = _skip(file, start - 1)
        room = 2 * BYTES_A_TOKEN * max_tokens
        while skipped == start - 1 and len(wanted) < limit and room > 0:
            line = _line(file)
            if line is None:
                break
            wanted.append(line.removeprefix("\ufeff") if start + len(wanted) == 1 else line)
            room -= len(line)
        total = skipped + len(wanted) + _count(file)
    return _fitted(wanted, start, total, max_tokens)


def _skip(file: BinaryIO, lines: int) -> int:
    """Go behind so many lines; return how many there were before the end of the file."""
    passed, last = 0, b"\n"
    while passed < lines:
        block = file.read(BLOCK)
        if not block:
            return passed + (not last.endswith(b"\n"))
        last = block
        found = block.count(b"\n")
        if passed + found < lines:
            passed += found
            continue
        at = -1
        for _ in range(lines - passed):
            at = block.index(b"\n", at + 1)
        file.seek(at + 1 - len(block), 1)
        passed = lines
    return passed


def _line(file: BinaryIO) -> str | None:
    """Return the next line, the end of an endless one cut and marked; None at the end of the file."""
    got = file.readline(4 * LINE_CHARS)
    if not got:
        return None
    rest, more = got, 0
    while not rest.endswith(b"\n") and (rest := file.readline(BLOCK)):
        more += len(rest)
    text = _decoded(got).removesuffix("\n").removesuffix("\r")
    return f"{text[: LINE_CHARS - 40]}… [truncated: {more} more bytes]" if more else text


def _decoded(line: bytes) -> str:
    """Decode a line as UTF-8, or as Windows-1252 where none of its letters is UTF-8."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("utf-8" if _LETTER.search(line) else "cp1252", "replace")


def _count(file: BinaryIO) -> int:
    """Count the lines from here to the end, one without a line feed too."""
    lines, last = 0, b"\n"
    while block := file.read(BLOCK):
        lines += block.count(b"\n")
        last = block
    return lines + (not last.endswith(b"\n"))


def _fitted(lines: Sequence[str], start: int, total: int, max_tokens: int) -> Window:
    """Leave out the lines that no longer fit; the first is always shown, cut."""
    room = BYTES_A_TOKEN * max_tokens
    for kept, line in enumerate(lines):
        room -= min(len(line), LINE_CHARS) * (1 if line.isascii() else 2) + 8
        if room < 0 and kept:
            return Window(lines[:kept], start, total, cut_by_size=True)
    return Window(lines, start, total)


def written(file: Mapping[str, Any], note: str) -> str:
    """Write a text result as the model reads it: number, tab, line; then how to read on."""
    start, count, total = file["startLine"], file["numLines"], file["totalLines"]
    if not total:
        return "(The file is empty.)"
    if not count:
        return f"(The file has {total} line{'s' * (total != 1)}; offset {start} lies behind its end.)"
    lines = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(file["content"].split("\n"), start))
    end = start + count - 1
    parts = [note, lines]
    if end < total:
        why = " (as many as fit)" if file.get("truncatedByTokenCap") else ""
        parts.append(f"\n(Lines {start}-{end} of {total}{why}. Read on with offset={end + 1} and limit.)")
    return "\n".join(filter(None, parts))


def clipped(line: str) -> str:
    """Cut a long line, saying how much is missing; what can't be shown as text becomes U+FFFD."""
    if len(line) > LINE_CHARS:
        line = f"{line[:LINE_CHARS]}… [truncated: {len(line) - LINE_CHARS} more characters]"
    return line if line.isascii() else _SURROGATES.sub("\ufffd", line)
