"""The record of a decision, as `why` and `permissions explain` show it and the transcript keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolpost import PartVerdict, Rule
    from toolpost_core.permissions.combine import Opinion, Verdict


def as_json(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict with everything that was asked, JSON-shaped (cli.md, `permissions explain`)."""
    decision = verdict.decisive.decision if verdict.decisive is not None else None
    rule = decision.rule if decision is not None else None
    return {
        "decision": verdict.behavior,
        "reason": verdict.reason,
        "rule": str(rule) if rule is not None else None,
        "source": rule.source if rule is not None else None,
        "file": rule.file if rule is not None else None,
        "line": rule.line if rule is not None else None,
        "resolver": verdict.resolver,
        "subcommands": [_part(part) for part in decision.parts] if decision is not None else [],
        "trace": [_opinion(opinion) for opinion in verdict.opinions],
    }


def _part(part: PartVerdict) -> dict[str, Any]:
    return {"command": part.part, "decision": part.behavior, "rule": _text(part.rule), "reason": part.reason}


def _opinion(opinion: Opinion) -> dict[str, Any]:
    decision = opinion.decision
    record: dict[str, Any] = {
        "by": opinion.by,
        "kind": opinion.kind,
        "decision": decision.behavior,
        "reason": decision.reason,
        "rule": _text(decision.rule),
    }
    if decision.rule is not None:
        record |= {"source": decision.rule.source, "file": decision.rule.file, "line": decision.rule.line}
    if opinion.dropped:
        record["dropped"] = opinion.dropped
    return record


def _text(rule: Rule | None) -> str | None:
    return None if rule is None else str(rule)
