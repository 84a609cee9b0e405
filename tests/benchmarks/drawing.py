"""Shares as a table, as bars of characters, and as an SVG file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from xml.sax.saxutils import escape

_WIDE: Final = 50
_BAR: Final = 12
_GAP: Final = 16
_LEFT: Final = 230
_SCALE: Final = 400
_RIGHT: Final = 160
_LINE: Final = 18
_FILLS: Final = ("#2f5d8a", "#8fb3d1", "#d9a441", "#7a9a5b")


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


def svg(title: str, shares: Mapping[str, Sequence[float]], series: Sequence[str], target: float) -> str:
    """Return the same as a picture, with a title and a key of the series."""
    row = len(series) * (_BAR + 2) + _GAP
    top = (len(series) + 1) * _LINE + _GAP
    height = top + row * len(shares) + 2 * _LINE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_LEFT + _SCALE + _RIGHT}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{_LEFT}" y="{_LINE}" font-size="14" font-weight="bold">{escape(title)}</text>',
    ]
    for number, name in enumerate(series, start=1):
        y = _LINE * (number + 1)
        parts.append(
            f'<rect x="{_LEFT}" y="{y - _BAR + 2}" width="{_BAR}" height="{_BAR}" fill="{_FILLS[number - 1]}"/>'
        )
        parts.append(f'<text x="{_LEFT + _BAR + 6}" y="{y}">{escape(name)}</text>')
    at, bottom = _LEFT + target * _SCALE, top + row * len(shares)
    for share in range(0, 101, 25):
        x = _LEFT + share * _SCALE / 100
        parts.append(f'<line x1="{x}" y1="{top - 6}" x2="{x}" y2="{bottom}" stroke="#e4e4e4"/>')
        parts.append(f'<text x="{x}" y="{bottom + 14}" text-anchor="middle" fill="#666">{share}%</text>')
    for place, (name, values) in enumerate(shares.items()):
        y = top + place * row
        middle = y + len(values) * (_BAR + 2) / 2 + 4
        parts.append(f'<text x="{_LEFT - 8}" y="{middle}" text-anchor="end">{escape(name)}</text>')
        for number, value in enumerate(values):
            below = y + number * (_BAR + 2)
            parts.append(
                f'<rect x="{_LEFT}" y="{below}" width="{value * _SCALE:.1f}" height="{_BAR}" fill="{_FILLS[number]}"/>'
            )
            parts.append(
                f'<text x="{_LEFT + value * _SCALE + 5:.1f}" y="{below + 10}" font-size="11">{value:.0%}</text>'
            )
    parts.append(f'<line x1="{at}" y1="{top - 6}" x2="{at}" y2="{bottom}" stroke="#c04040" stroke-dasharray="4 3"/>')
    parts.append(
        f'<text x="{at}" y="{bottom + 28}" text-anchor="middle" fill="#c04040">target {target:.0%}</text></svg>'
    )
    return "\n".join(parts) + "\n"
