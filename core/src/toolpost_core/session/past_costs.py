"""What sessions have cost, from their transcripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import toolpost
from toolpost_core.loop.ledger import Ledger
from toolpost_core.session.totals import totals_in
from toolpost_core.session.usage import usage_in
from toolpost_core.transcripts.kinds import COST, USAGE
from toolpost_core.transcripts.reading import records_in

if TYPE_CHECKING:
    from pathlib import Path

    from toolpost import CostLine, CostTotals, ModelInfo, Usage


def lines_of(sessions: Iterable[Path], model_of: Callable[[str], ModelInfo]) -> list[CostLine]:
    """Add up the requests of sessions and of their sub-agents by model, at the prices of `model_of`.

    The blocks of one answer share its id, and what it used in all is told behind them. A copy of a session has the same
    ids, so that what was said before they parted counts once.
    """
    answers: dict[str, tuple[str, Usage]] = {}
    for file in (file for path in sessions for file in _with_agents(path)):
        for record in records_in(file):
            match record:
                case {"type": "assistant", "message": {"usage": dict(wire)} as message}:
                    key = str(message.get("id") or record.get("uuid"))
                    answers[key] = (str(message.get("model")), usage_in(wire))
                case {"type": kind, "messageId": str(key), "model": str(model), "usage": dict(wire)} if kind == USAGE:
                    answers[key] = (model, usage_in(wire))
    ledger = Ledger()
    models = {name: model_of(name) for name, _ in answers.values()}
    for name, usage in answers.values():
        ledger.add(models[name], usage)
    return sorted(ledger.lines.values(), key=lambda line: line.model)


def totals_of(sessions: Iterable[Path]) -> CostTotals:
    """Add up what sessions took beside tokens, each as its last record of it says."""
    figures = [_totals(path) for path in sessions]
    return toolpost.CostTotals(
        api_seconds=sum(each.api_seconds for each in figures),
        retry_seconds=sum(each.retry_seconds for each in figures),
        tool_seconds=sum(each.tool_seconds for each in figures),
        lines_added=sum(each.lines_added for each in figures),
        lines_removed=sum(each.lines_removed for each in figures),
    )


def _totals(path: Path) -> CostTotals:
    last: Mapping[str, Any] = {}
    for record in records_in(path, COST):
        if record.get("of") == path.stem:  # a copy of a session has that one's records as well
            last = record
    return totals_in(last)


def _with_agents(path: Path) -> list[Path]:
    return [path, *sorted((path.parent / path.stem / "subagents").glob("*.jsonl"))]
