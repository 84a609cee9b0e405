"""What commands print: one JSON document, or a table for a person."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from typing import Any


def print_json(value: Any) -> None:
    """Print one JSON document."""
    print(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def print_line(value: Any) -> None:
    """Print one JSON line and flush it: whoever reads it may wait for it."""
    print(json.dumps(value, ensure_ascii=False, default=str), flush=True)


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


def one_line(text: str) -> str:
    """Return a text on one line, without characters that move a terminal's cursor."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
