"""What fills the model's window, as a coloured map. Nothing here knows a terminal or a loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from .clean import one_line

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from toolpost import ContextUsage

ROWS: Final = 5
COLUMNS: Final = 40
CELLS: Final = ROWS * COLUMNS
_COLOURS: Final = (
    "blue",
    "cyan",
    "green",
    "yellow",
    "magenta",
    "bright_blue",
    "bright_green",
    "bright_magenta",
    "white",
)
_SIGNS: Final = "abcdefghi"


class Filling:
    """The map, and under it a line for each kind and what is to be known of the limits."""

    def __init__(self, usage: ContextUsage) -> None:
        self._usage = usage

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del options
        yield drawn(self._usage, colours=console.color_system is not None and not console.no_color)


def drawn(usage: ContextUsage, *, colours: bool) -> RenderableType:
    """Draw it; without colours each kind has a letter."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    kinds = [
        (one_line(category.name), category.tokens, *_look(number)) for number, category in enumerate(usage.categories)
    ]
    reserve = usage.window - usage.effective
    all_kinds = [*kinds, ("Free", usage.free, "dim", "·"), ("Kept for the answer", reserve, "dim", "×")]
    cells = list(_cells(usage, [(tokens, style, sign) for _, tokens, style, sign in all_kinds], colours=colours))
    rows = [Text.assemble(*cells[start : start + COLUMNS]) for start in range(0, len(cells), COLUMNS)]
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, tokens, style, sign in all_kinds:
        shown = _sign(style, sign, colours=colours)
        table.add_row(Text(shown, style), name, Text(f"{tokens:,}"), Text(f"{tokens / usage.window:.1%}", "dim"))
    return Group(Text(_head(usage), "bold"), *rows, table, Text(_limits(usage), "dim"), Text(_trust(usage), "dim"))


def _look(number: int) -> tuple[str, str]:
    return _COLOURS[number % len(_COLOURS)], _SIGNS[number % len(_SIGNS)]


def _sign(style: str, sign: str, *, colours: bool) -> str:
    return "■" if colours and style != "dim" else sign


def _cells(usage: ContextUsage, kinds: Sequence[tuple[int, str, str]], *, colours: bool) -> Iterator[tuple[str, str]]:
    """Yield a sign and a style for each cell: a cell is of the kind that its middle falls into."""
    ends: list[tuple[float, str, str]] = []
    end = 0
    for tokens, style, sign in kinds:
        end += tokens
        ends.append((end, style, _sign(style, sign, colours=colours)))
    whole = max(end, usage.window, 1)
    for cell in range(CELLS):
        middle = (cell + 0.5) * whole / CELLS
        yield next(((sign, style) for limit, style, sign in ends if middle <= limit), ("×", "dim"))


def _head(usage: ContextUsage) -> str:
    share = usage.used / usage.effective if usage.effective else 1.0
    return f"{one_line(usage.model)}: {usage.used:,} of {usage.effective:,} tokens ({share:.0%})"


def _limits(usage: ContextUsage) -> str:
    by_itself = "never by itself" if usage.auto is None else f"by itself from {usage.auto:,} on"
    return f"It is compacted {by_itself}, or with /compact. From {usage.blocking:,} on nothing is sent."


def _trust(usage: ContextUsage) -> str:
    source = "counted by the service" if usage.counted else "estimated from the service's last report"
    error = "" if usage.error is None else f" The estimate of the last request was off by {usage.error:+.1%}."
    return f"The sum is {source}; its parts are estimated.{error}"
