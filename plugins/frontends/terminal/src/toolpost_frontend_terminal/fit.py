"""Text fitted to the columns of a terminal; wide characters count as what they take."""

from __future__ import annotations

from collections.abc import Sequence

from prompt_toolkit.utils import get_cwidth

from .clean import clean


def fit(line: Sequence[tuple[str, str]], columns: int) -> Sequence[tuple[str, str]]:
    """Cut a line of styled pieces to one row, with an ellipsis where something is lost; its last piece is kept."""
    if sum(get_cwidth(text) for _, text in line) < columns:
        return line
    *body, last = line if len(line) > 1 else [*line, ("", "")]
    room = max(1, columns - 2 - get_cwidth(last[1]))
    if get_cwidth(last[1]) > columns // 2:
        body, last, room = list(line), ("", ""), max(1, columns - 2)
    shown: list[tuple[str, str]] = []
    for style, text in body:
        cut = _cut(text, room)
        shown.append((style, cut))
        room -= get_cwidth(cut)
        if cut != text:
            break
    return [*shown, ("", "…"), last]


def tail_lines(text: str, columns: int, most: int) -> list[str]:
    """Return the last rows that cleaned text takes when it is wrapped at the edge."""
    rows: list[str] = []
    # A row has at least one character, so that what lies further back can't be among the last rows.
    for line in clean(text[-columns * most :]).rstrip("\n").split("\n"):
        rest = line
        while rest:
            row = _cut(rest, columns - 1)
            rows.append(row)
            rest = rest[len(row) :]
        if not line:
            rows.append("")
    return rows[-most:] if text.strip() else []


def _cut(text: str, columns: int) -> str:
    width = 0
    for index, character in enumerate(text):
        width += get_cwidth(character)
        if width > columns:
            return text[: max(1, index)]
    return text
