"""Finding the text to replace: as it stands, then with line endings and characters that look alike taken as equal."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

STRAY = "".join(map(chr, range(0xDC80, 0xDD00)))
"""How bytes that are no UTF-8 stand in a text (PEP 383); Read shows each as U+FFFD."""

ALIKE = (
    "'\u2018\u2019\u201a\u201b\u2032",
    '"\u201c\u201d\u201e\u201f\u2033',
    "-\u2010\u2011\u2012\u2013\u2014\u2212",
    " \u00a0\u202f\u2009",
    "\ufffd" + STRAY,
)
"""Characters that models write for one another; the first of each group is the one they write most."""


_IN_GROUPS = frozenset("".join(ALIKE))


@dataclass(frozen=True)
class Found:
    """Where a text stands in a file: spans of the file's text, left to right, none overlapping.

    `exact` is false where characters that look alike had to be taken as equal.
    """

    spans: tuple[tuple[int, int], ...]
    exact: bool = True


def find(text: str, wanted: str) -> Found:
    """Return every place of `wanted` in `text`; a line feed in it also stands for the file's own line ending."""
    wanted = wanted.replace("\r\n", "\n")
    if "\r" not in text:
        spans = _plain(text, wanted)
    else:
        spans = _spans(re.compile(_pattern(wanted, newline_of(text), alike=False)), text)
    if spans or not (set(wanted) & _IN_GROUPS or not (wanted.isascii() or text.isascii())):
        return Found(spans)
    return Found(_spans(re.compile(_pattern(wanted, newline_of(text), alike=True)), text), exact=False)


def again_within(text: str, wanted: str, found: Found) -> int | None:
    """Return where `wanted` stands once more, overlapping the only place that was found: `--` stands twice in `---`."""
    (start, end), newline = found.spans[0], newline_of(text)
    pattern = re.compile(_pattern(wanted.replace("\r\n", "\n"), newline, alike=not found.exact))
    other = pattern.search(text, start + 1, 2 * end - start - 1)
    # A line break is one, with its CR or not.
    return other.start() if other and text[other.start() - 1 : other.start() + 1] != "\r\n" else None


def newline_of(text: str) -> str:
    """Return a regular expression for what ends a line of this file: a lone CR only where there is no LF at all."""
    return r"\r" if "\n" not in text and "\r" in text else r"\r?\n"


def group_of(character: str) -> str | None:
    """Return the group of `ALIKE` that a character belongs to."""
    return next((group for group in ALIKE if character in group), None)


def _plain(text: str, wanted: str) -> tuple[tuple[int, int], ...]:
    spans = []
    at = text.find(wanted)
    while at >= 0:
        spans.append((at, at + len(wanted)))
        at = text.find(wanted, at + len(wanted))
    return tuple(spans)


def _spans(pattern: re.Pattern[str], text: str) -> tuple[tuple[int, int], ...]:
    return tuple(found.span() for found in pattern.finditer(text))


def _pattern(wanted: str, newline: str, *, alike: bool) -> str:
    parts = []
    for character in unicodedata.normalize("NFC", wanted) if alike else wanted:
        group = group_of(character) if alike else None
        if character == "\n":
            parts.append(newline)
        elif group:
            parts.append(f"[{re.escape(group)}]")
        elif alike and (taken_apart := unicodedata.normalize("NFD", character)) != character:
            parts.append(f"(?:{character}|{taken_apart})")
        else:
            parts.append(re.escape(character))
    return "".join(parts)
