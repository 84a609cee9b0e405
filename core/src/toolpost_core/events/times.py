"""How long listeners took in a session."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from toolpost_core.events.dispatch import Answer

RECORD: Final = "listener-times"
"""The type of the record that ends a transcript: what its listeners came to.

`listeners` has a row for each event and plugin: `event` and `plugin`, `calls`, `total`, `p50`, `p99` and `max` in
milliseconds, `timeouts`, `failures` of other kinds. `quarantined` has one for each listener that was off at the end:
`event` and `plugin`, `error` (its last), `blocks` (whether what it guards stayed blocked).
"""
KEPT: Final = 1000
"""The last calls of one listener that percentiles are taken of; calls and totals count all."""


class Times:
    """Counts the calls of each listener of each event; costs two additions a call."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, _Row]] = {}

    def add(self, event: str, answers: Iterable[Answer]) -> None:
        """Count the answers of one event, of those that were called."""
        rows = self._rows.get(event)
        if rows is None:
            rows = self._rows[event] = {}
        for answer in answers:
            row = rows.get(answer.plugin)
            if row is None:
                row = rows[answer.plugin] = _Row()
            row.add(answer)

    def take(self) -> list[dict[str, Any]]:
        """Return a row for each event and plugin, in milliseconds, and begin anew."""
        taken, self._rows = self._rows, {}
        return [
            {"event": event, "plugin": plugin, **row.facts()}
            for event, rows in sorted(taken.items())
            for plugin, row in sorted(rows.items())
        ]


class _Row:
    __slots__ = ("calls", "failures", "last", "timeouts", "total")

    def __init__(self) -> None:
        self.calls, self.total, self.timeouts, self.failures = 0, 0.0, 0, 0
        self.last: deque[float] = deque(maxlen=KEPT)

    def add(self, answer: Answer) -> None:
        self.calls += 1
        self.total += answer.duration
        self.last.append(answer.duration)
        if answer.error is not None:
            self.timeouts += answer.timed_out
            self.failures += not answer.timed_out

    def facts(self) -> dict[str, Any]:
        ranked = sorted(self.last)
        at = {
            name: ranked[min(len(ranked) - 1, int(len(ranked) * part))] for name, part in (("p50", 0.5), ("p99", 0.99))
        }
        times = {"total": self.total, **at, "max": ranked[-1]}
        told = {name: round(seconds * 1000, 3) for name, seconds in times.items()}
        return {"calls": self.calls, **told, "timeouts": self.timeouts, "failures": self.failures}
