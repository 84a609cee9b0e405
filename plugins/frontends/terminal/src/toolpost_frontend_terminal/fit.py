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


def wrapped(text: str, columns: int, most: int, indent: int) -> list[str]:
    """Return the rows that a text takes when it is wrapped between words, all but the first indented; so many at most."""
    rows: list[str] = []
    rest, margin = text, ""
    while rest and len(rows) < most:
        row = _row(rest, max(1, columns - 1 - len(margin)))
        rest = rest[len(row) :]
        rows.append(margin + row.rstrip())
        margin = " " * indent
    if rest:
        rows[-1] = _cut(rows[-1], max(1, columns - 2)) + "…"
    return rows


def tail_lines(text: str, columns: int, most: int) -> list[str]:
    """Return the last rows that cleaned text takes when it is wrapped between words."""
    rows: list[str] = []
    # A row has at least one character, so that what lies further back can't be among the last rows.
    for line in clean(text[-columns * most :]).rstrip("\n").split("\n"):
        rest = line
        while rest:
            row = _row(rest, columns - 1)
            rows.append(row.rstrip() if len(row) < len(rest) else row)
            rest = rest[len(row) :]
        if not line:
            rows.append("")
    return rows[-most:] if text.strip() else []


def _row(text: str, columns: int) -> str:
    """Return what fits on a row: whole words with the blank behind them, unless the first word is longer."""
    cut = _cut(text, columns)
    if len(cut) == len(text) or text[len(cut)] == " ":
        return text[: len(cut) + 1]
    words = cut.rpartition(" ")[0]
    return text[: len(words) + 1] if words.strip() else cut


def _cut(text: str, columns: int) -> str:
    width = 0
    for index, character in enumerate(text):
        width += get_cwidth(character)
        if width > columns:
            return text[: max(1, index)]
    return text
