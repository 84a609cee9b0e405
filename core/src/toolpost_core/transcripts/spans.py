"""Which bytes of a long transcript are read to go on with it: its end, without what is no record of a session.

A file system that lost its power leaves zeros behind, and other programs append what they like. However much that is, it
must not take the place of what was said before.
"""

from __future__ import annotations

from typing import BinaryIO, Final, NamedTuple

PIECE: Final = 1 << 20
MARK: Final = b'"sessionId"'
"""What a record has; it may only be missing in a piece that lies within a single long line."""
MOST_PASSED: Final = 20
"""How often what is read may be passed over: the work is bounded, whatever the size of a file."""


class Span(NamedTuple):
    """Bytes from `begin`, where a line begins, up to `end`."""

    begin: int
    end: int

    def since(self, offset: int) -> Span:
        """Return what of it is at an offset or behind that."""
        return Span(max(self.begin, offset), self.end)


class Spans(NamedTuple):
    """What is read of a file, in its order, and how many bytes between and behind that were passed over."""

    spans: tuple[Span, ...]
    passed: int = 0

    @property
    def begin(self) -> int:
        """Where it begins."""
        return self.spans[0].begin if self.spans else 0


def spans_of(file: BinaryIO, size: int, most: int) -> Spans:
    """Return the last `most` bytes of a file, not counting pieces that hold no record. Raises OSError."""
    if size <= most:
        return Spans((Span(0, size),))
    pieces: list[tuple[int, int]] = []
    end, kept, passed = size, 0, 0
    while end > 0 and kept < most and passed < most * MOST_PASSED:
        begin = max(end - PIECE, end - (most - kept), 0)
        file.seek(begin)
        if _holds_records(file.read(end - begin)):
            pieces.append((begin, end))
            kept += end - begin
        else:
            passed += end - begin
        end = begin
    return _joined(file, pieces, floor=end, size=size)


def _holds_records(data: bytes) -> bool:
    return MARK in data or not (b"\0" in data or b"\n" in data)


def _joined(file: BinaryIO, pieces: list[tuple[int, int]], floor: int, size: int) -> Spans:
    """Join pieces, from the last to the first, with what is beside them: a record's begin or end may be there."""
    spans: list[list[int]] = []
    for begin, end in reversed(pieces):
        begin, end = max(begin - PIECE, floor), min(end + PIECE, size)
        if spans and begin <= spans[-1][1]:
            spans[-1][1] = end
        else:
            spans.append([begin, end])
    found = [Span(_line_from(file, begin, end), end) for begin, end in spans]
    read = sum(span.end - span.begin for span in found)
    return Spans(tuple(found), size - floor - read if len(found) != 1 or found[0].end < size else 0)


def _line_from(file: BinaryIO, begin: int, end: int) -> int:
    """Return where the next line begins; the first one does at 0."""
    if begin == 0:
        return 0
    file.seek(begin - 1)
    file.readline(end - begin + 1)
    return min(file.tell(), end)
