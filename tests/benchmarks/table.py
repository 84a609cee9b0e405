"""Prints figures as a plain table, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.benchmarks.clients import HTTPX2, TOOLPOST
from tests.benchmarks.measures import Report, Row, Target


def table(report: Report, names: Sequence[str]) -> str:
    """Return medians by client, toolpost's ratio to the bare httpx2 loop, and what toolpost is to reach."""
    head = ["measure", "figure", "unit", *names, f"{TOOLPOST} / {HTTPX2}", "target", "met"]
    rows = [head, *(_cells(row, names) for row in report.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if index < 3 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    failed = [f"{client} failed at {measure}: {reason}" for measure, client, reason in report.failures]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:], *failed])


def _cells(row: Row, names: Sequence[str]) -> list[str]:
    medians = row.medians()
    shown = [_number(medians[name]) if name in medians else "-" for name in names]
    times = ratio(row)
    return [
        row.measure,
        row.figure,
        row.unit,
        *shown,
        "-" if times is None else f"{times:.2f}",
        _target(row.target),
        {True: "yes", False: "no", None: "-"}[met(row)],
    ]


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def _target(target: Target | None) -> str:
    if target is None:
        return "-"
    return f"<= {target.most:g} x {HTTPX2}" if target.times else f"<= {target.most:g}"


def ratio(row: Row) -> float | None:
    """Return toolpost's median over that of the bare httpx2 loop; None where there is none, or it says nothing."""
    medians = row.medians()
    if TOOLPOST not in medians or medians.get(HTTPX2, 0) <= 0 or row.unit == "x":
        return None
    return medians[TOOLPOST] / medians[HTTPX2]


def met(row: Row) -> bool | None:
    """Return whether toolpost reaches its target; None where there is no target or no figure."""
    medians, target = row.medians(), row.target
    if target is None or TOOLPOST not in medians:
        return None
    if not target.times:
        return medians[TOOLPOST] <= target.most
    times = ratio(row)
    return None if times is None else times <= target.most


def as_json(report: Report) -> str:
    """Return every sample, medians, ratios and failures as one JSON object."""
    rows = [
        {
            "measure": row.measure,
            "figure": row.figure,
            "unit": row.unit,
            "samples": row.samples,
            "medians": dict(row.medians()),
            "ratio": ratio(row),
            "target": _target(row.target),
            "met": met(row),
        }
        for row in report.rows
    ]
    failures = [{"measure": m, "client": client, "reason": reason} for m, client, reason in report.failures]
    return json.dumps({"rows": rows, "failures": failures}, indent=1)
