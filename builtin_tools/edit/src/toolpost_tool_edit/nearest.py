"""Telling the model why a text was not found: the nearest place and what differs there."""

from __future__ import annotations

import html
import re
from difflib import SequenceMatcher

MOST_LINES = 20_000
"""Lines compared by likeness: beyond that the answer takes longer than reading the file again."""
LIKE_ENOUGH = 0.6
SHOWN = 200
"""Characters shown of a line."""

_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "'": "'", "\\": "\\"}
_ESCAPE = re.compile(r"\\([nt\"'\\])")
_NUMBERED = re.compile(r"^\s*\d+(?:\t|\u2192)", re.MULTILINE)


def explain(text: str, wanted: str) -> str:
    """Return what to tell about a `wanted` that is not in `text`; "" if nothing in it is alike."""
    wanted = wanted.replace("\r\n", "\n")
    unnumbered = _NUMBERED.sub("", wanted)
    if unnumbered != wanted and unnumbered in text:
        return "old_string holds the line numbers that Read shows; leave out number and tab."
    if (meant := _unescaped(wanted)) != wanted and meant in text:
        return "old_string holds escape sequences such as backslash-n (two characters) where the file has line breaks."
    if _escaped(wanted) in text:
        return "old_string holds line breaks or tabs where the file has escape sequences such as backslash-n."
    if "&" in wanted and (meant := html.unescape(wanted)) != wanted and meant in text:
        return "old_string holds HTML entities such as &lt; where the file has the characters themselves."
    if (stripped := wanted.strip()) and text.count(stripped) and stripped != wanted:
        return "It does stand there without the blanks or line breaks at the beginning or end of old_string."
    return _other_space(text, wanted) or _other_case(text, wanted) or _likeliest(text, wanted)


def _unescaped(wanted: str) -> str:
    return _ESCAPE.sub(lambda found: _ESCAPES[found[1]], wanted)


def _escaped(wanted: str) -> str:
    return wanted.replace("\n", "\\n").replace("\t", "\\t")


def _other_space(text: str, wanted: str) -> str:
    words = wanted.split()
    if not words or len(words) > 2_000:
        return ""
    found = re.search(r"\s+".join(map(re.escape, words)), text)
    if found is None:
        return ""
    pair = _pair(found.group().split("\n"), wanted.strip().split("\n"))
    return f"Line {_line(text, found.start())} differs only in white space: {pair}"


def _other_case(text: str, wanted: str) -> str:
    found = re.search(re.escape(wanted), text, re.IGNORECASE)
    if found is None:
        return ""
    return f"Line {_line(text, found.start())} differs in upper and lower case: {_shown(found.group())}"


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _likeliest(text: str, wanted: str) -> str:
    """Find the line most like the first telling line of `wanted`, then the first line after it that differs."""
    wanted_lines = wanted.split("\n")
    first = next((n for n, line in enumerate(wanted_lines) if len(line.strip()) > 2), None)
    if first is None:
        return ""
    lines = text.split("\n", MOST_LINES)[:MOST_LINES]
    at = _most_alike(lines, wanted_lines[first])
    if at is None:
        return ""
    here = lines[max(at - first, 0) : at - first + len(wanted_lines)]
    return f"At the nearest place {_pair(here, wanted_lines, max(at - first, 0) + 1)}"


def _most_alike(lines: list[str], wanted: str) -> int | None:
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted[:SHOWN])
    best, best_at = LIKE_ENOUGH, None
    for at, line in enumerate(lines):
        matcher.set_seq1(line[:SHOWN])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and (ratio := matcher.ratio()) > best:
            best, best_at = ratio, at
    return best_at


def _pair(here: list[str], wanted: list[str], line: int | None = None) -> str:
    """Show the first two lines that differ, blanks made visible by quoting."""
    for number, (mine, theirs) in enumerate(zip(here, wanted, strict=False)):
        if mine.removesuffix("\r") != theirs:
            where = f"line {line + number} of the file" if line else "the file"
            return f"{where} has {_shown(mine)}, old_string {_shown(theirs)}."
    return "the lines that are compared agree; the rest does not follow there."


def _shown(line: str) -> str:
    line = line.removesuffix("\r")
    return repr(line if len(line) <= SHOWN else line[:SHOWN] + "…")
