"""What commands print: one JSON document, or a table for a person."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from typing import Any


def print_json(value: Any) -> None:
    """Print one JSON document."""
    print(_as_text(value, indent=2))


def print_line(value: Any) -> None:
    """Print one JSON line and flush it: whoever reads it may wait for it."""
    print(_as_text(value), flush=True)


def print_table(head: Sequence[str], rows: Sequence[Sequence[object]], empty: str) -> None:
    """Print rows in columns; cut at the terminal's edge, in a pipe never. `empty` stands for none."""
    if not rows:
        print(empty)
        return
    texts = [[one_line(str(cell)) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in texts) for column in range(len(head))]
    edge = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for row in texts:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()[:edge])


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
