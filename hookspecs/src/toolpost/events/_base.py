"""What all events have in common: who sends them, and how answers merge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from toolpost.stash import Stash

O = TypeVar("O", bound="Outcome")  # noqa: E741
TEXTS = frozenset({"additional_context", "message", "reason", "stop_reason", "system_message"})
"""Fields whose values are for a reader: those of several answers are joined."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """The session that an event comes from; the fields that every hook's JSON has (compat.md 2.1)."""

    session_id: str = ""
    transcript_path: Path | None = None
    cwd: Path = field(default_factory=Path)
    project: Path = field(default_factory=Path)
    permission_mode: str = "default"
    agent_id: str | None = None
    agent_type: str | None = None
    prompt_id: str | None = None
    effort: str | None = None
    stash: Stash = field(default_factory=Stash, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class EventBase:
    """Base of all events. `origin` is filled in by core."""

    origin: Origin = field(default_factory=Origin, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What any listener may answer.

    `additional_context` is given to the model. `stop` ends the turn after this event, whatever else was answered, with
    `stop_reason` shown to the person. `system_message` is shown to the person.
    """

    additional_context: str = ""
    stop: bool = False
    stop_reason: str = ""
    system_message: str = ""


@dataclass(frozen=True, kw_only=True)
class BlockOutcome(Outcome):
    """An answer that may block what the event announces; `reason` says why."""

    block: bool = False
    reason: str = ""


def merged(outcomes: Sequence[O]) -> O:
    """Merge answers field by field: texts are joined in order, flags or-ed; of other values the last one given counts.

    The `reason` is that of the answers that block, if any does.
    """
    first, *others = outcomes
    if not others:
        return first
    names = [f.name for f in fields(first)]
    result = {name: getattr(first, name) for name in names}
    for outcome in others:
        given = {name: getattr(outcome, name) for name in names}
        result = {name: _pair(name, result, given) for name in names}
    return replace(first, **result)


def _pair(name: str, first: Mapping[str, Any], second: Mapping[str, Any]) -> Any:
    ours, theirs = first[name], second[name]
    if name == "reason" and first.get("block", False) != second.get("block", False):
        return ours if first.get("block", False) else theirs
    if isinstance(ours, bool):
        return ours or theirs
    if name in TEXTS:
        return f"{ours}\n{theirs}" if ours and theirs else ours or theirs
    if isinstance(ours, str) and not theirs:
        return ours
    if isinstance(ours, tuple) and isinstance(theirs, tuple):
        return ours + theirs
    return ours if theirs is None else theirs
