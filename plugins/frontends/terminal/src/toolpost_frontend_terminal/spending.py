"""What a session has cost: tokens and dollars by model, and below them time and lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from . import draw

if TYPE_CHECKING:
    from toolpost import BudgetLimits, CostLine, CostTotals

    from .draw import Drawing


def drawing(lines: Sequence[CostLine], totals: CostTotals) -> Drawing:
    """The table of the models, and what else the session took."""
    from rich.console import Group
    from rich.text import Text

    return Group(draw.costs(lines), *(Text(text, "dim") for text in _below(lines, totals)))


def in_short(lines: Sequence[CostLine], left: BudgetLimits) -> str:
    """`$0.0123, $0.9877 left`; empty where nothing was spent and nothing is limited."""
    said = [draw.total(lines)] if lines else []
    if left.dollars is not None:
        said.append(f"{draw.dollars(max(0.0, left.dollars))} left")
    if left.tokens is not None:
        said.append(f"{max(0, left.tokens):,} tokens left")
    return ", ".join(said)


def _below(lines: Sequence[CostLine], totals: CostTotals) -> Iterator[str]:
    if any(line.dollars is None for line in lines):
        yield "? is a model whose price is not known: its tokens are counted, and it is in no sum."
    if searches := sum(line.usage.web_search_requests for line in lines):
        yield f"{searches:,} web searches"
    if totals.api_seconds:
        lost = f", {draw.seconds(totals.retry_seconds)} of it with retries" if totals.retry_seconds else ""
        yield f"answers took {draw.seconds(totals.api_seconds)}{lost}; tools {draw.seconds(totals.tool_seconds)}"
    if totals.lines_added or totals.lines_removed:
        yield f"{totals.lines_added:,} lines added, {totals.lines_removed:,} removed"
