"""Where lines of Chinese, Japanese and Korean may break: between most characters, since few have blanks around words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from unicodedata import east_asian_width

from rich.cells import cell_len
from rich.text import Text

# Simplified from the rules of line breaking in JLREQ and CLREQ: what never begins a line, and what never ends one.
_NEVER_FIRST: Final = frozenset(
    "、。，．・：；？！…‥ー々〻”’）］｝〕〉》」』】〗ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ,.:;?!)]}%"
)
_NEVER_LAST: Final = frozenset("“‘（［｛〔〈《「『【〖([{")
_PICTURES: Final = range(0x1F000, 0x1FB00)
"""Emoji are as wide, but several of them may be one sign."""


def broken(text: Text, columns: int) -> Text:
    """Return the text with line ends where its lines have to break; one without wide characters as it is."""
    if not any(map(_is_wide, text.plain)):
        return text
    rows = [row for line in text.split("\n", allow_blank=True) for row in line.divide(_breaks(line.plain, columns))]
    for row in rows:
        row.rstrip()
    return Text("\n", justify=text.justify, overflow=text.overflow).join(rows)


def _breaks(line: str, columns: int) -> Iterator[int]:
    """Yield the places in a line where a new row begins."""
    start = end = 0
    for next in [*_chances(line), len(line)]:
        if end > start and cell_len(line[start:next].rstrip()) > columns:
            yield end
            start = end
        end = next


def _chances(line: str) -> Iterator[int]:
    for place in range(1, len(line)):
        before, after = line[place - 1], line[place]
        if after == " " or after in _NEVER_FIRST or before in _NEVER_LAST or not cell_len(after):
            continue
        if before == " " or _is_wide(before) or _is_wide(after):
            yield place


def _is_wide(character: str) -> bool:
    return east_asian_width(character) in "WF" and ord(character) not in _PICTURES
