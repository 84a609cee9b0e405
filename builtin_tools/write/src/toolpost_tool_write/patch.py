"""The structured patch between two texts."""

from __future__ import annotations

import re
from typing import TypedDict

CONTEXT = 3
"""Unchanged lines on each side of a change, as `diff -u` shows them."""
MOST_COMPARED = 1_000_000
"""Old lines times new lines up to which they are compared: difflib's cost is quadratic."""
LINE_CHARS = 2_000


class Hunk(TypedDict):
    """One part of a unified diff; lines begin with a blank, `-` or `+`. Line numbers count from 1."""

    oldStart: int
    oldLines: int
    newStart: int
    newLines: int
    lines: list[str]


def structured_patch(before: str, after: str) -> list[Hunk]:
    """Return the hunks that lead from one text to the other; where too much differs, the middle as one hunk."""
    old, new = _split(before), _split(after)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    first, last = max(head - CONTEXT, 0), min(tail, CONTEXT) - tail
    middle_old, middle_new = old[first : len(old) + last], new[first : len(new) + last]
    if middle_old == middle_new:
        return []
    if len(middle_old) * len(middle_new) > MOST_COMPARED:
        return [_whole(middle_old, middle_new, first + 1)]
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, middle_old, middle_new, autojunk=False)
    return [_hunk(group, middle_old, middle_new, first + 1) for group in matcher.get_grouped_opcodes(CONTEXT)]


def _hunk(group: list[tuple[str, int, int, int, int]], old: list[str], new: list[str], line: int) -> Hunk:
    lines: list[str] = []
    for tag, i1, i2, j1, j2 in group:
        if tag == "equal":
            lines += _marked(" ", old[i1:i2])
        else:
            lines += _marked("-", old[i1:i2]) + _marked("+", new[j1:j2])
    (_, old_start, _, new_start, _), (_, _, old_end, _, new_end) = group[0], group[-1]
    return Hunk(
        oldStart=line + old_start,
        oldLines=old_end - old_start,
        newStart=line + new_start,
        newLines=new_end - new_start,
        lines=lines,
    )


def _whole(old: list[str], new: list[str], line: int) -> Hunk:
    lines = _marked("-", old) + _marked("+", new)
    return Hunk(oldStart=line, oldLines=len(old), newStart=line, newLines=len(new), lines=lines)


def _marked(mark: str, lines: list[str]) -> list[str]:
    return [mark + _clipped(line) for line in lines]


def _split(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def _common(old: list[str], new: list[str]) -> int:
    """Count the lines that both begin with."""
    for number, (a, b) in enumerate(zip(old, new, strict=False)):
        if a != b:
            return number
    return min(len(old), len(new))


def _clipped(line: str) -> str:
    """Cut a line that nobody reads to its end; what is no text becomes U+FFFD, so that the patch can be written."""
    line = line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]}… [{len(line) - LINE_CHARS} more characters]"
    return line if line.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", line)
