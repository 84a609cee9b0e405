"""What is written in place of a match: in the file's line endings and, where they were in the way, its typography."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import chain, repeat

from .match import Found, group_of, newline_of

_CURLY = {"'": ("\u2018", "\u2019"), '"': ("\u201c", "\u201d")}


def replacements(text: str, found: Found, old: str, new: str) -> list[str]:
    """Return the text for each span of `found`."""
    if "\r\n" in old or "\r" in text:
        # Endings are the file's business: a model that writes CRLF in both texts means the same line breaks.
        old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    made = []
    for start, end in found.spans:
        piece = text[start:end]
        styled = new if found.exact else _in_style_of(piece, old, new)
        made.append(_with_endings(styled, piece, text, start, end))
    return made


def splice(text: str, found: Found, made: list[str]) -> str:
    """Return `text` with each span replaced; what lies between the spans is taken over as it is."""
    parts, at = [], 0
    for (start, end), piece in zip(found.spans, made, strict=True):
        parts += [text[at:start], piece]
        at = end
    return "".join([*parts, text[at:]])


def _with_endings(new: str, piece: str, text: str, start: int, end: int) -> str:
    """Give each line feed of `new` the ending that the replaced line had; lines added take the last one's."""
    if "\n" not in new or "\r" not in text:
        return new
    had = re.findall(newline_of(text), piece) or [_neighbour(text, start, end)]
    endings = chain(had, repeat(had[-1]))
    return "".join(f"{line}{next(endings)}" if more else line for line, more in _lines(new))


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    *lines, last = text.split("\n")
    yield from ((line, True) for line in lines)
    yield last, False


def _neighbour(text: str, start: int, end: int) -> str:
    """Return the ending of the line that a match stands in, or of the line before it where it is the last."""
    if "\n" not in text:
        return "\r"
    at = text.find("\n", end)
    if at < 0:
        at = text.rfind("\n", 0, start)
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


def _in_style_of(piece: str, old: str, new: str) -> str:
    """Carry the file's own characters over into `new`: kept text as it stands, added quotes as curly as the old."""
    piece = piece.replace("\r\n", "\n").replace("\r", "\n") if len(piece) != len(old) else piece
    if len(piece) != len(old):  # letters with their accents apart on one side and not on the other
        return unicodedata.normalize("NFD" if unicodedata.is_normalized("NFD", piece) else "NFC", new)
    made = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        made.append(piece[i1:i2] if tag == "equal" else _curled(new, j1, j2, piece))
    return "".join(made)


def _curled(new: str, start: int, end: int, piece: str) -> str:
    made = []
    for at in range(start, end):
        character = new[at]
        curly = _CURLY.get(character)
        if curly and character not in piece and any(c in piece for c in (group_of(character) or "")[1:]):
            opens = at == 0 or new[at - 1].isspace() or new[at - 1] in "([{\u2014\u2013-"
            character = curly[0 if opens else 1]
        made.append(character)
    return "".join(made)
