"""What commands print: one JSON document, or a table for a person."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final

NARROWEST: Final = 8
"""Columns that a cell is not folded below."""


def print_json(value: Any) -> None:
    """Print one JSON document."""
    print(_as_text(value, indent=2))


def print_line(value: Any) -> None:
    """Print one JSON line and flush it: whoever reads it may wait for it."""
    print(_as_text(value), flush=True)


def print_table(head: Sequence[str], rows: Sequence[Sequence[object]], empty: str) -> None:
    """Print rows in columns; in a terminal cells are folded so that they fit, in a pipe never. `empty` stands for none."""
    if not rows:
        print(empty)
        return
    for line in table_lines(head, rows, terminal_width()):
        print(line)


def table_lines(head: Sequence[str], rows: Sequence[Sequence[object]], edge: int | None) -> Iterator[str]:
    """Lay rows out in columns; the widest columns give way until all fit before the edge."""
    texts = [[one_line(str(cell)) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in texts) for column in range(len(head))]
    while edge is not None and sum(widths) + 2 * (len(widths) - 1) > edge and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    for row in texts:
        cells = [_folded(cell, width) for cell, width in zip(row, widths, strict=True)]
        for parts in zip_longest(*cells, fillvalue=""):
            yield "  ".join(part.ljust(width) for part, width in zip(parts, widths, strict=True)).rstrip()[:edge]


def print_wrapped(text: str, indent: int = 0) -> None:
    """Print a sentence or more, folded at the terminal's edge; in a pipe on one line."""
    edge, margin = terminal_width(), " " * indent
    if edge is None:
        print(margin + one_line(text))
        return
    import textwrap

    hanging = margin + "  "
    print(textwrap.fill(one_line(text), max(edge, 30), initial_indent=margin, subsequent_indent=hanging))


def terminal_width() -> int | None:
    """Return the columns of the terminal that is printed to; None where it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _folded(text: str, width: int) -> list[str]:
    if len(text) <= width:
        return [text]
    import textwrap

    return textwrap.wrap(text, width) or [""]


def _as_text(value: Any, indent: int | None = None) -> str:
    """Write JSON as people read it, or escaped where it holds half a character that UTF-8 has no bytes for."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent, default=str)
    return text


def one_line(text: str) -> str:
    """Return a text on one line, without characters that move a terminal's cursor."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
