"""Shares as a table, as bars of characters, and as an SVG file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from xml.sax.saxutils import escape

_WIDE: Final = 50
_ROW: Final = 44
_BAR: Final = 14
_LEFT: Final = 170
_SCALE: Final = 400


def table(rows: Iterable[Sequence[str]]) -> str:
    """Return rows under a line, the first column to the left and the others to the right."""
    made = list(rows)
    widths = [max(map(len, column)) for column in zip(*made, strict=True)]
    lines = [
        "  ".join(
            cell.rjust(width) if index else cell.ljust(width) for index, (cell, width) in enumerate(cells)
        ).rstrip()
        for cells in (list(zip(row, widths, strict=True)) for row in made)
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def bars(shares: Mapping[str, Sequence[float]], target: float) -> str:
    """Return a bar for each share, with a mark where the target is."""
    wide, at = max(map(len, shares)), round(target * _WIDE)
    lines = []
    for name, values in shares.items():
        for number, value in enumerate(values):
            bar = "█" * round(value * _WIDE)
            marked = bar if len(bar) > at else f"{bar:<{at}}|"
            lines.append(f"{'' if number else name:<{wide}}  {marked:<{_WIDE + 1}} {value:.0%}")
    return "\n".join(lines)


def svg(shares: Mapping[str, Sequence[float]], target: float) -> str:
    """Return the same as a picture."""
    height = _ROW * len(shares) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _SCALE + 60}" height="{height}" '
        'font-family="sans-serif" font-size="12">'
    ]
    for row, (name, values) in enumerate(shares.items()):
        top = row * _ROW + 10
        parts.append(f'<text x="{_LEFT - 8}" y="{top + 18}" text-anchor="end">{escape(name)}</text>')
        for number, value in enumerate(values):
            y = top + number * (_BAR + 2)
            fill = ("#4878a8", "#a8c4dc")[number % 2]
            parts.append(f'<rect x="{_LEFT}" y="{y}" width="{value * _SCALE:.1f}" height="{_BAR}" fill="{fill}"/>')
            parts.append(f'<text x="{_LEFT + value * _SCALE + 5:.1f}" y="{y + 11}">{value:.0%}</text>')
    at = _LEFT + target * _SCALE
    parts.append(f'<line x1="{at}" y1="4" x2="{at}" y2="{height - 20}" stroke="#c04040" stroke-dasharray="4 3"/>')
    parts.append(f'<text x="{at}" y="{height - 6}" text-anchor="middle">target {target:.0%}</text></svg>')
    return "\n".join(parts) + "\n"
