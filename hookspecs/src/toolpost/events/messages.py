"""Events of questions that MCP servers put to the person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from toolpost._hooks import event
from toolpost.events._base import EventBase, Outcome, merged


@dataclass(frozen=True, kw_only=True)
class Elicitation(EventBase):
    """A server asks the person for something."""

    mcp_server_name: str
    message: str = ""
    mode: Literal["form", "url"] = "form"
    url: str | None = None
    elicitation_id: str | None = None
    requested_schema: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ElicitationOutcome(Outcome):
    """An answer in the person's place."""

    action: Literal["accept", "decline", "cancel"] | None = None
    content: Mapping[str, Any] | None = None


@event("decide", merged)
def elicitation(event: Elicitation) -> ElicitationOutcome | None:
    """When a server asks the person.

    When: before it is shown. How often: once a question. Answer: `action` and `content` in the person's place. Merge:
    the last one counts. Failure: declines.
    """


@dataclass(frozen=True, kw_only=True)
class ElicitationResult(EventBase):
    """The person answered a server."""

    mcp_server_name: str
    action: Literal["accept", "decline", "cancel"] = "accept"
    content: Mapping[str, Any] | None = None
    mode: Literal["form", "url"] = "form"
    elicitation_id: str | None = None


@event("decide", merged)
def elicitation_result(event: ElicitationResult) -> ElicitationOutcome | None:
    """When the person answered a server.

    When: before the answer is sent. How often: once an answer. Answer: `action` and `content` replace it. Merge: the
    last one counts. Failure: declines.
    """
