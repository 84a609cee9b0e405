"""Drawings as the text that a terminal takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING

from rich.console import Console
from rich.theme import Theme

if TYPE_CHECKING:
    from .draw import Drawing

_THEME = Theme(
    {
        "markdown.code": "cyan",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.item.bullet": "dim",
        "markdown.item.number": "dim",
        "markdown.table.header": "bold",
        "markdown.table.border": "dim",
    }
)
# rich fills rows with blanks: they would wrap when the window gets narrower, and be copied.
_PADDING = re.compile(r"((?:\x1b\[[0-9;]*m| )*)$", re.MULTILINE)


class Ansi:
    """Draws into text, with colours as far as the environment (NO_COLOR, TERM) allows them, or as `plain` rows."""

    def __init__(self, *, plain: bool = False) -> None:
        self._console = Console(
            file=StringIO(),
            force_terminal=not plain,
            no_color=plain or None,
            highlight=False,
            markup=False,
            theme=_THEME,
        )

    def text(self, drawings: Sequence[Drawing], columns: int) -> str:
        """Return the rows of the drawings, one below the other."""
        out = StringIO()
        self._console.file = out
        self._console.width = columns
        for drawing in drawings:
            self._console.print(drawing, crop=False)
        return _PADDING.sub(lambda match: match[1].replace(" ", ""), out.getvalue())
