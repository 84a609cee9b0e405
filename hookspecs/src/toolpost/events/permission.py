"""Events of the permission step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from toolpost._hooks import event
from toolpost.events._base import EventBase, Outcome, merged


@dataclass(frozen=True, kw_only=True)
class PermissionAsked(EventBase):
    """A person is about to be asked."""

    tool_name: str
    tool_input: Mapping[str, Any] = field(default_factory=dict)
    tool_use_id: str = ""
    reason: str = ""
    permission_suggestions: Sequence[Mapping[str, Any]] = ()
    mcp_server: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class PermissionRequestOutcome(Outcome):
    """An answer in the person's place. `interrupt` with deny also ends the turn."""

    decision: Literal["allow", "deny"] | None = None
    message: str = ""
    interrupt: bool = False
    updated_input: Mapping[str, Any] | None = None
    updated_permissions: tuple[Mapping[str, Any], ...] = ()


def _deny_first(outcomes: Sequence[PermissionRequestOutcome]) -> PermissionRequestOutcome:
    whole = merged(outcomes)
    denied = any(outcome.decision == "deny" for outcome in outcomes)
    return replace(whole, decision="deny") if denied else whole


@event("decide", _deny_first)
def permission_request(event: PermissionAsked) -> PermissionRequestOutcome | None:
    """When a call would be put to a person.

    When: before the question is shown, and also where nobody can be asked. How often: once a call that is asked about.
    Answer: allow or deny in the person's place; an allow of input that a rule denies stays denied. Merge: deny > allow.
    Failure: counts as no answer that allows: the person is asked.
    """


@dataclass(frozen=True, kw_only=True)
class PermissionDenied(EventBase):
    """A call was refused without a person, by a rule, a mode or a classifier."""

    tool_name: str
    tool_input: Mapping[str, Any] = field(default_factory=dict)
    tool_use_id: str = ""
    reason: str = ""
    mcp_server: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class PermissionDeniedOutcome(Outcome):
    """`retry` tells the model that it may try again."""

    retry: bool = False


@event("observe", merged)
def permission_denied(event: PermissionDenied) -> PermissionDeniedOutcome | None:
    """After a call was refused without a person.

    When: before the refusal reaches the model. How often: once such a call. Answer: `retry`. Merge: any retry counts.
    Failure: reported.
    """
