"""What commands print: one JSON document, or a table for a person."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TextIO

if TYPE_CHECKING:
    from rich.table import Table

UNTOLD: Final = 80
"""Columns of a terminal that does not tell how many it has."""


def print_json(value: Any) -> None:
    """Print one JSON document."""
    print(_as_text(value, indent=2))


def print_line(value: Any, stream: TextIO | None = None) -> None:
    """Print one JSON line and flush it: whoever reads it may wait for it."""
    print(_as_text(value), file=stream, flush=True)


def print_table(head: Sequence[str], rows: Sequence[Sequence[object]], empty: str) -> None:
    """Print rows in columns: as a table in a terminal, one plain line a row in a pipe. `empty` stands for none."""
    if not rows:
        print(empty)
    elif terminal_width() is None:
        print("\n".join(table_lines(head, rows)))
    else:
        _draw_table(head, [[one_line(str(cell)) for cell in row] for row in rows])


def table_lines(head: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """Lay rows out in columns, for a pipe: nothing is folded, nothing is coloured."""
    texts = [[one_line(str(cell)) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in texts) for column in range(len(head))]
    for row in texts:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def print_facts(facts: Iterable[tuple[str, str]], indent: int = 0) -> None:
    """Print what is known of one thing: a label and a text each, in two columns in a terminal, as a line in a pipe."""
    if terminal_width() is None:
        for label, text in facts:
            print(f"{' ' * indent}{_printable(label)} {one_line(text)}")
    else:
        _draw_facts([(_printable(label).rstrip(":"), one_line(text)) for label, text in facts], indent)


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
    if not sys.stdout.isatty():
        return None
    wished = os.environ.get("COLUMNS", "")
    wide = int(wished) if wished.isdecimal() else 0
    return wide or os.get_terminal_size(sys.stdout.fileno()).columns or UNTOLD


def _draw_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Draw rows under a head, as wide as the terminal at most."""
    from rich import box
    from rich.table import Table

    _draw(Table(*head, box=box.SIMPLE_HEAD, show_edge=False, padding=0, header_style="bold"), rows)


def _draw_facts(facts: Sequence[tuple[str, str]], indent: int) -> None:
    """Draw labels and texts side by side, without lines."""
    from rich.table import Column, Table

    _draw(Table.grid(Column(style="bold"), Column(), padding=(0, 2)), facts, indent)


def _draw(table: Table, rows: Sequence[Sequence[str]], indent: int = 0) -> None:
    """Fill a table and print it; a cell that is too wide is folded and loses nothing, and no text is taken for markup."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    for column in table.columns:
        column.overflow = "fold"
    for row in rows:
        table.add_row(*map(Text, row))
    Console(highlight=False, width=terminal_width()).print(Padding(table, (0, 0, 0, indent), expand=False))


def _as_text(value: Any, indent: int | None = None) -> str:
    """Write JSON as people read it, or escaped where it holds half a character that UTF-8 has no bytes for."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    # Readers that split lines as Unicode does must not find more of them than there are.
    text = text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x85", "\\u0085")
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent, default=str)
    return text


def one_line(text: str) -> str:
    """Return a text on one line, without characters that move a terminal's cursor."""
    return " ".join(_printable(text).split())


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)
