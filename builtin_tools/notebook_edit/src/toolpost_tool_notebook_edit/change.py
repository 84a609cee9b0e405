"""The three changes of a notebook's text: a cell replaced, inserted or deleted."""

from __future__ import annotations

import json
import re
from typing import Any

from .notebook import Cell, Notebook

_INDENT = re.compile(r"\n([ \t]+)\S")
_SURROGATE = re.compile("[\ud800-\udfff]")


def find(notebook: Notebook, cell_id: str) -> int | None:
    """Return the number of the one cell that is meant: by its id, else `cell-N` by position; None for none or several."""
    cells = notebook.cells
    found = [number for number, cell in enumerate(cells) if cell.get("id") == cell_id]
    if found:
        return found[0] if len(found) == 1 else None
    place = re.fullmatch(r"cell-(\d{1,9})", cell_id)
    return int(place[1]) if place and int(place[1]) < len(cells) else None


def changed(cell: Cell, source: str, cell_type: str | None) -> Cell:
    """Return the cell with another source and, maybe, another type; what the old code printed goes."""
    kind = cell_type or cell.get("cell_type")
    made = {**cell, "cell_type": kind, "source": source if isinstance(cell.get("source"), str) else lines(source)}
    made.setdefault("metadata", {})
    if kind == "code":
        made.pop("attachments", None)
        return made | {"execution_count": None, "outputs": []}
    return {key: value for key, value in made.items() if key not in ("execution_count", "outputs")}


def new(notebook: Notebook, source: str, cell_type: str) -> Cell:
    """Return a cell with all keys that its type and the notebook's format demand, in the order that Jupyter writes."""
    cell: Cell = {"cell_type": cell_type, "metadata": {}, "source": lines(source)}
    if cell_type == "code":
        cell |= {"execution_count": None, "outputs": []}
    if notebook.has_ids:
        cell["id"] = _fresh_id({str(other.get("id")) for other in notebook.cells})
    return dict(sorted(cell.items()))


def lines(source: str) -> list[str]:
    """Split a source as Jupyter keeps it: lines with their line feeds, and no empty one at the end."""
    return [line for line in re.split(r"(?<=\n)", source) if line]


def replaced(notebook: Notebook, number: int, cell: Cell) -> str:
    """Return the notebook's text with another cell in the place of one."""
    start, end = notebook.spans[number]
    return notebook.text[:start] + _written(notebook, cell) + notebook.text[end:]


def inserted(notebook: Notebook, number: int, cell: Cell) -> str:
    """Return the notebook's text with one more cell, which gets that number."""
    text, written, between = notebook.text, _written(notebook, cell), _between(notebook)
    if not notebook.spans:
        start, end = notebook.inside
        closing = between.removesuffix(_unit(text)) if "\n" in between else ""
        return f"{text[:start]}{between.lstrip(' ')}{written}{closing}{text[end:]}"
    if number == 0:
        start = notebook.spans[0][0]
        return f"{text[:start]}{written},{between}{text[start:]}"
    end = notebook.spans[number - 1][1]
    return f"{text[:end]},{between}{written}{text[end:]}"


def deleted(notebook: Notebook, number: int) -> str:
    """Return the notebook's text without one cell, and without the comma that parted it from a neighbour."""
    text, spans = notebook.text, notebook.spans
    if len(spans) == 1:
        start, end = notebook.inside
    elif number + 1 < len(spans):
        start, end = spans[number][0], spans[number + 1][0]
    else:
        start, end = spans[number - 1][1], spans[number][1]
    return text[:start] + text[end:]


def _fresh_id(taken: set[str]) -> str:
    from uuid import uuid4

    while (made := uuid4().hex[:8]) in taken:
        pass
    return made


def _written(notebook: Notebook, cell: Cell) -> str:
    """Write a cell as the file writes its cells: indented or in one line, letters escaped or not."""
    text = notebook.text
    options: dict[str, Any] = {"ensure_ascii": text.isascii() and "\\u" in text}
    between = _between(notebook)
    if "\n" in between:
        made = json.dumps(cell, indent=_unit(text), **options).replace("\n", between)
    else:
        made = json.dumps(cell, separators=(", ", ": ") if between else (",", ":"), **options)
    # Half a character that stood there as an escape can stand there only as one.
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", made)


def _between(notebook: Notebook) -> str:
    """Return what stands between the comma behind a cell and the next one: a line break with indentation, or a blank."""
    text = notebook.text
    if notebook.spans:
        before = text[notebook.inside[0] : notebook.spans[0][0]]
        if "\n" in before or len(notebook.spans) == 1:
            return before if "\n" in before else _blank(text)
        return text[notebook.spans[0][1] : notebook.spans[1][0]].lstrip().removeprefix(",")
    unit = _unit(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    return newline + 2 * unit if unit else _blank(text)


def _unit(text: str) -> str:
    """Return one step of the file's indentation; "" where it has none."""
    found = _INDENT.search(text)
    return found[1] if found else ""


def _blank(text: str) -> str:
    return " " if '": ' in text else ""
