"""A change to a file as numbered lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from toolpost import Diff

CONTEXT = 3
# Above this many lines on both sides together, matching line by line takes longer than a person waits.
_TOO_MANY = 4000


class DiffLine(NamedTuple):
    """One line: removed, added, unchanged, or a gap between hunks; `number` is that of the side that it stands on."""

    kind: Literal["-", "+", " ", "…"]
    number: int
    text: str


def diff_lines(diff: Diff) -> list[DiffLine]:
    """Return the changed lines with some context around them."""
    before = [] if diff.before is None else diff.before.splitlines()
    after = diff.after.splitlines()
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    lines = [DiffLine(" ", number + 1, before[number]) for number in range(max(0, head - CONTEXT), head)]
    lines += _changed(old, new, head)
    end = len(after) - tail
    lines += [DiffLine(" ", number + 1, after[number]) for number in range(end, min(len(after), end + CONTEXT))]
    return lines


def count(lines: Sequence[DiffLine]) -> tuple[int, int]:
    """Return how many lines are added and removed."""
    return sum(line.kind == "+" for line in lines), sum(line.kind == "-" for line in lines)


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((index for index, (mine, theirs) in pairs if mine != theirs), min(len(left), len(right)))


def _changed(old: Sequence[str], new: Sequence[str], offset: int) -> Iterator[DiffLine]:
    for tag, i1, i2, j1, j2 in _opcodes(old, new):
        if tag == "equal":
            yield from _unchanged(new, j1, j2, offset)
            continue
        yield from (DiffLine("-", offset + number + 1, old[number]) for number in range(i1, i2))
        yield from (DiffLine("+", offset + number + 1, new[number]) for number in range(j1, j2))


def _unchanged(new: Sequence[str], start: int, end: int, offset: int) -> Iterator[DiffLine]:
    """The lines between two changes; the middle of many is left out."""
    for number in range(start, end):
        if end - start <= 2 * CONTEXT or number < start + CONTEXT or number >= end - CONTEXT:
            yield DiffLine(" ", offset + number + 1, new[number])
        elif number == start + CONTEXT:
            yield DiffLine("…", 0, f"{end - start - 2 * CONTEXT} unchanged lines")


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    from difflib import SequenceMatcher

    if len(old) + len(new) > _TOO_MANY:
        return [("replace", 0, len(old), 0, len(new))]
    return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
