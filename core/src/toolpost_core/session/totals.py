"""What a session took in all: the models' accounts of earlier runs, the time of answers and calls, and changed lines."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import toolpost
from toolpost_core.loop.ledger import Ledger
from toolpost_core.session.usage import json_usage, usage_in
from toolpost_core.transcripts.kinds import COST

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolpost import CostLine, CostTotals
    from toolpost_core.session.inner import Inner
    from toolpost_core.session.parts import Parts
    from toolpost_core.tools.calls import CallResult

_FIGURES = {
    "api_seconds": "apiSeconds",
    "retry_seconds": "retrySeconds",
    "tool_seconds": "toolSeconds",
    "lines_added": "linesAdded",
    "lines_removed": "linesRemoved",
}


class Totals:
    """Adds up; what a sub-agent took counts for its parent as well. `clock` gives seconds.

    An answer is waited for from `asked` to `answered` or `ended`. What was lost before a retry counts by itself.
    """

    def __init__(self, parent: Totals | None = None, clock: Callable[[], float] = time.perf_counter) -> None:
        self._parent = parent
        self._clock = clock
        self._figures: dict[str, float] = dict.fromkeys(_FIGURES, 0)
        self._earlier: list[CostLine] = []
        self._others: dict[tuple[str, str], CostLine] = {}
        self._since: float | None = None
        self._tried = 0.0

    @property
    def is_own(self) -> bool:
        """Whether it is the account of a whole session, and not a part of another one's."""
        return self._parent is None

    def asked(self) -> None:
        """A request goes out, for the first time or again."""
        self._tried = self._clock()
        self._since = self._tried if self._since is None else self._since

    def retrying(self, delay: float) -> None:
        """A try failed, and the next one begins after a wait."""
        until = self._clock() + delay
        if self._since is not None:
            self._add(retry_seconds=max(0.0, until - self._tried))
        self._tried = until

    def answered(self) -> None:
        """The answer is complete, or will not be."""
        if self._since is not None:
            now = self._clock()
            # A wait that was called off has not been waited.
            self._add(api_seconds=now - self._since, retry_seconds=-max(0.0, self._tried - now))
            self._since = None

    def asked_aside(self, seconds: float) -> None:
        """A side question was answered."""
        self._add(api_seconds=seconds)

    def called(self, result: CallResult) -> None:
        """A call is done."""
        added, removed = _changed(result.data)
        self._add(tool_seconds=result.duration, lines_added=added, lines_removed=removed)

    def so_far(self) -> CostTotals:
        """Return what it came to."""
        return toolpost.CostTotals(**cast("Any", self._figures))

    def without(self, ledger: Ledger) -> None:
        """Leave out what the account has by now: it was used before the session began."""
        self._others = dict(ledger.lines)

    def whole(self, ledger: Ledger) -> Ledger:
        """Return the session's account: that of this run, and what earlier ones used."""
        if not self._earlier and not self._others:
            return ledger
        whole = Ledger()
        for line in (*self._earlier, *(_less(line, self._others.get(key)) for key, line in ledger.lines.items())):
            if line.requests:
                whole.take_over(line)
        return whole

    def record(self, ledger: Ledger) -> dict[str, Any]:
        """Return what is kept of it for who resumes, as JSON."""
        figures = {name: round(self._figures[field], 3) for field, name in _FIGURES.items()}
        return {**figures, "lines": [_as_json(line) for line in self.whole(ledger).lines.values()]}

    def restore(self, record: Mapping[str, Any]) -> None:
        """Begin with what earlier runs of the session came to; what is damaged counts as nothing."""
        for field, name in _FIGURES.items():
            figure = record.get(name)
            self._figures[field] = figure if isinstance(figure, int | float) else 0
        lines = record.get("lines")
        self._earlier = [line for line in map(_from_json, lines if isinstance(lines, list) else ()) if line is not None]

    def _add(self, **figures: float) -> None:
        for field, figure in figures.items():
            self._figures[field] += figure
        if self._parent is not None:
            self._parent._add(**figures)


def new_totals(parts: Parts) -> Totals:
    """Return the totals to begin with: a session that goes on has some already, a copy of one has not."""
    totals = Totals()
    if parts.history is not None and parts.forked_from is None:
        totals.restore(parts.history.states.get(COST, {}))
    return totals


def spent(session: Inner) -> Ledger:
    """Return the account of a session, with what earlier runs of it used."""
    return session.account.whole(session.parts.budget.ledger)


def keep(session: Inner) -> None:
    """Keep in the transcript what a session came to, for who resumes it."""
    if session.account.is_own:
        record = session.account.record(session.parts.budget.ledger)
        session.transcript.state(COST, of=session.id, **record)


def totals_in(record: Mapping[str, Any]) -> CostTotals:
    """Return the figures of a record."""
    totals = Totals()
    totals.restore(record)
    return totals.so_far()


def _changed(data: object) -> tuple[int, int]:
    """Count the lines that a call added and removed, where its data say so in the form of editing tools."""
    if not isinstance(data, Mapping):
        return 0, 0
    patch = data.get("structuredPatch")
    hunks = patch if isinstance(patch, Sequence) else ()
    if not hunks and data.get("type") == "create" and isinstance(data.get("content"), str):
        return len(data["content"].splitlines()), 0
    marks = [str(line)[:1] for hunk in hunks if isinstance(hunk, Mapping) for line in hunk.get("lines", ())]
    return marks.count("+"), marks.count("-")


def _less(line: CostLine, other: CostLine | None) -> CostLine:
    if other is None:
        return line
    dollars = None if line.dollars is None or other.dollars is None else line.dollars - other.dollars
    usage = toolpost.Usage(*(mine - theirs for mine, theirs in zip(line.usage, other.usage, strict=True)))
    return replace(line, requests=line.requests - other.requests, usage=usage, dollars=dollars)


def _as_json(line: CostLine) -> dict[str, Any]:
    return {
        "model": line.model,
        "spender": line.spender,
        "requests": line.requests,
        "usage": json_usage(line.usage),
        "usd": line.dollars,
    }


def _from_json(line: object) -> CostLine | None:
    match line:
        case {"model": str(model), "spender": str(spender), "requests": int(requests), "usage": dict(wire), **rest}:
            dollars = rest.get("usd")
            return toolpost.CostLine(
                model=model,
                spender=spender,
                requests=requests,
                usage=usage_in(wire),
                dollars=float(dollars) if isinstance(dollars, int | float) else None,
            )
    return None
