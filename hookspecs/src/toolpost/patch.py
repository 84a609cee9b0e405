"""Structured patches: what a change of a text file looks like to programs, as hunks of a unified diff."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, TypeAlias, TypedDict

CONTEXT: Final = 3
"""Unchanged lines on each side of a change, as `diff -u` shows them."""
MOST_COMPARED: Final = 1_000_000
"""Old lines times new lines up to which they are compared: difflib's cost is quadratic."""
LINE_CHARS: Final = 2_000
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")

Change: TypeAlias = tuple[int, int, str]
"""A part of a text, from one place to another, and what comes there."""


class Hunk(TypedDict):
    """One part of a unified diff; lines begin with a blank, `-` or `+`. Line numbers count from 1."""

    oldStart: int
    oldLines: int
    newStart: int
    newLines: int
    lines: list[str]


def structured_patch(before: str, after: str) -> list[Hunk]:
    """Return the hunks that lead from one text to the other; how a line ends is no difference.

    Fast for big texts that differ in one place. Where too many lines differ, they are one hunk.
    """
    before, after = _ended(before), _ended(after)
    return patch_of_changes(before, list(_changes(before, after)))


def patch_of_changes(text: str, changes: Sequence[Change]) -> list[Hunk]:
    """Return the hunks for changes of a text, given from left to right; its cost does not grow with the text."""
    hunks: list[Hunk] = []
    line, counted, shift = 1, 0, 0
    for group in _together(text, changes):
        start, end = _line_start(text, group[0][0]), group[-1][1]
        new = _spliced(text, start, group)
        if not (_at_line_start(text, end) and _at_line_start(new, len(new))):
            rest = _line_end(text, end)
            new, end = new + text[end:rest], rest
        line += text.count("\n", counted, start)
        counted = start
        hunk = _hunk(_before(text, start), _split(text[start:end]), _split(new), _after(text, end), line, shift)
        shift += hunk["newLines"] - hunk["oldLines"]
        hunks.append(hunk)
    return hunks


def _ended(text: str) -> str:
    text = text.replace("\r\n", "\n")
    return f"{text}\n" if text and not text.endswith("\n") else text


def _changes(before: str, after: str) -> Iterator[Change]:
    """Yield the changes between two texts, in whole lines."""
    if before == after:
        return
    head = _line_start(before, _common_head(before, after))
    tail = _common_tail(before[head:], after[head:])
    feed = before.find("\n", len(before) - tail)
    tail = 0 if feed < 0 else len(before) - feed - 1
    old, new = (_LINE.findall(text[head : len(text) - tail]) for text in (before, after))
    if len(old) * len(new) > MOST_COMPARED:
        yield head, len(before) - tail, "".join(new)
        return
    from difflib import SequenceMatcher

    starts = list(accumulate(map(len, old), initial=head))
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield starts[i1], starts[i2], "".join(new[j1:j2])


def _common_head(a: str, b: str) -> int:
    """Count the characters that both begin with: by halves, as slices are compared at the speed of memory."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_tail(a: str, b: str) -> int:
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[len(a) - middle : len(a) - low] == b[len(b) - middle : len(b) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _together(text: str, changes: Sequence[Change]) -> list[list[Change]]:
    """Group the changes whose context would overlap."""
    groups: list[list[Change]] = []
    for change in changes:
        if groups and text.count("\n", groups[-1][-1][1], change[0]) <= 2 * CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(before: list[str], old: list[str], new: list[str], after: list[str], line: int, shift: int) -> Hunk:
    start = line - len(before)
    return Hunk(
        oldStart=start,
        oldLines=len(before) + len(old) + len(after),
        newStart=start + shift,
        newLines=len(before) + len(new) + len(after),
        lines=[*_marked(" ", before), *_body(old, new), *_marked(" ", after)],
    )


def _body(old: list[str], new: list[str]) -> list[str]:
    if len(old) * len(new) > MOST_COMPARED:
        return [*_marked("-", old), *_marked("+", new)]
    from difflib import SequenceMatcher

    lines: list[str] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += _marked(" ", old[i1:i2])
        else:
            lines += [*_marked("-", old[i1:i2]), *_marked("+", new[j1:j2])]
    return lines


def _marked(mark: str, lines: Sequence[str]) -> list[str]:
    return [mark + _clipped(line) for line in lines]


def _clipped(line: str) -> str:
    """Cut a line that nobody reads to its end; what is no text becomes U+FFFD, so that the patch can be written."""
    line = line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]}… [{len(line) - LINE_CHARS} more characters]"
    return line if line.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", line)


def _spliced(text: str, at: int, changes: Sequence[Change]) -> str:
    """Return the text from `at` to the end of the last change, as it is after the changes."""
    parts: list[str] = []
    for start, end, made in changes:
        parts += [text[at:start], made]
        at = end
    return "".join(parts)


def _split(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _at_line_start(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] == "\n"


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _before(text: str, start: int) -> list[str]:
    at = start
    for _ in range(CONTEXT):
        if at == 0:
            break
        at = text.rfind("\n", 0, at - 1) + 1
    return _split(text[at:start])


def _after(text: str, end: int) -> list[str]:
    at = end
    for _ in range(CONTEXT):
        if at >= len(text):
            break
        found = text.find("\n", at)
        at = len(text) if found < 0 else found + 1
    return _split(text[end:at])
