"""The structured patch of an edit, made from the spans that changed: its cost does not grow with the file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypedDict

CONTEXT = 3
"""Unchanged lines shown on each side of a change, as `diff -u` does."""
LINE_CHARS = 2_000


class Hunk(TypedDict):
    """One part of a unified diff; lines begin with a blank, `-` or `+`. Line numbers count from 1."""

    oldStart: int
    oldLines: int
    newStart: int
    newLines: int
    lines: list[str]


def structured_patch(text: str, spans: Sequence[tuple[int, int]], made: Sequence[str]) -> list[Hunk]:
    """Return the hunks for replacing `spans` of `text` by `made`."""
    hunks: list[Hunk] = []
    line, counted, shift = 1, 0, 0
    for group in _together(text, spans, made):
        first, last = group[0][0], group[-1][1]
        start, end = _line_start(text, first), _line_end(text, last)
        before, after = _before(text, start), _after(text, end)
        line += text.count("\n", counted, start)
        counted = start
        old = text[start:end]
        new = _spliced(old, [(a - start, b - start, piece) for a, b, piece in group])
        hunk = _hunk(before, _split(old), _split(new), after, line, shift)
        shift += hunk["newLines"] - hunk["oldLines"]
        hunks.append(hunk)
    return hunks


def _together(text: str, spans: Sequence[tuple[int, int]], made: Sequence[str]) -> list[list[tuple[int, int, str]]]:
    """Group the changes whose context would overlap."""
    groups: list[list[tuple[int, int, str]]] = []
    for (start, end), piece in zip(spans, made, strict=True):
        near = groups and text.count("\n", groups[-1][-1][1], start) <= 2 * CONTEXT
        if near:
            groups[-1].append((start, end, piece))
        else:
            groups.append([(start, end, piece)])
    return groups


def _hunk(before: list[str], old: list[str], new: list[str], after: list[str], line: int, shift: int) -> Hunk:
    body = _body(old, new)
    start = line - len(before)
    return Hunk(
        oldStart=start,
        oldLines=len(before) + len(old) + len(after),
        newStart=start + shift,
        newLines=len(before) + len(new) + len(after),
        lines=[*(f" {x}" for x in before), *body, *(f" {x}" for x in after)],
    )


def _body(old: list[str], new: list[str]) -> list[str]:
    from difflib import SequenceMatcher

    if len(old) * len(new) > 1_000_000:  # Longer than anybody reads line by line, and difflib is quadratic.
        return [*(f"-{x}" for x in old), *(f"+{x}" for x in new)]
    lines = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += [f" {x}" for x in old[i1:i2]]
        else:
            lines += [*(f"-{x}" for x in old[i1:i2]), *(f"+{x}" for x in new[j1:j2])]
    return lines


def _spliced(old: str, changes: list[tuple[int, int, str]]) -> str:
    parts, at = [], 0
    for start, end, piece in changes:
        parts += [old[at:start], piece]
        at = end
    return "".join([*parts, old[at:]])


def _split(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [_clipped(line.removesuffix("\r")) for line in lines]


def _clipped(line: str) -> str:
    """Cut a line that nobody reads to its end; what is no text becomes U+FFFD, so that the patch can be written."""
    line = line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]}… [{len(line) - LINE_CHARS} more characters]"
    return line if line.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", line)


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _line_end(text: str, at: int) -> int:
    """Return where the line that the change runs into ends, its line feed included."""
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
