"""Events round tool calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from toolpost._hooks import event
from toolpost.events._base import BlockOutcome, EventBase, Outcome, merged

Verdict: TypeAlias = Literal["allow", "ask", "defer", "deny"]
_STRICTNESS: tuple[Verdict, ...] = ("allow", "ask", "defer", "deny")


@dataclass(frozen=True, kw_only=True)
class PreToolUse(EventBase):
    """A call is about to be decided on. `tool_input` is what would run."""

    tool_name: str
    tool_input: Mapping[str, Any] = field(default_factory=dict)
    tool_use_id: str = ""
    read_only: bool = False
    mcp_server: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class PreToolUseOutcome(Outcome):
    """An opinion on a call, and a new input for it. A `reason` is read by the model."""

    decision: Verdict | None = None
    reason: str = ""
    updated_input: Mapping[str, Any] | None = None


def _strictest(outcomes: Sequence[PreToolUseOutcome]) -> PreToolUseOutcome:
    decisions = [outcome.decision for outcome in outcomes if outcome.decision is not None]
    if not decisions:
        return merged(outcomes)
    strictest = max(decisions, key=_STRICTNESS.index)
    reasons = [outcome.reason for outcome in outcomes if outcome.decision == strictest and outcome.reason]
    return replace(merged(outcomes), decision=strictest, reason="\n".join(reasons))


def _with_input(value: PreToolUse, outcome: PreToolUseOutcome) -> PreToolUse:
    return value if outcome.updated_input is None else replace(value, tool_input=outcome.updated_input)


@event("decide", _strictest, rewrites=_with_input)
def pre_tool_use(event: PreToolUse) -> PreToolUseOutcome | None:
    """Before a call is decided on.

    When: after the input passed the tool's own checks, before permission rules. How often: once a call. Answer:
    `decision` deny refuses the call and ask puts it to a person; allow grants it unless a deny or ask rule says
    otherwise; defer ends a run in which nobody can be asked, and the event comes again once the session is taken up;
    `updated_input` replaces the input, which is then checked again from the start. Merge: listeners run one after
    another, each with the last one's input; deny > defer > ask > allow. Failure: blocks the call, and the model reads
    that the hook failed.
    """


@dataclass(frozen=True, kw_only=True)
class PostToolUse(EventBase):
    """A call ran. `tool_response` is its structured output, `duration` in seconds."""

    tool_name: str
    tool_input: Mapping[str, Any] = field(default_factory=dict)
    tool_response: Any = None
    tool_use_id: str = ""
    duration: float = 0.0
    mcp_server: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class PostToolUseOutcome(BlockOutcome):
    """Feedback on a call that ran: `block` with `reason` is read by the model; `updated_output` replaces the result."""

    updated_output: Any = None


def _with_output(value: PostToolUse, outcome: PostToolUseOutcome) -> PostToolUse:
    return value if outcome.updated_output is None else replace(value, tool_response=outcome.updated_output)


@event("observe", merged, rewrites=_with_output)
def post_tool_use(event: PostToolUse) -> PostToolUseOutcome | None:
    """After a call ran.

    When: before its result reaches the model. How often: once a call that did not fail. Answer: `reason` with `block`
    and `additional_context` are given to the model with the result; `updated_output` replaces the structured output.
    Merge: one after another, texts joined, the last output counts. Failure: reported, the result stands.
    """


@dataclass(frozen=True, kw_only=True)
class PostToolUseFailure(EventBase):
    """A call failed or was called off."""

    tool_name: str
    tool_input: Mapping[str, Any] = field(default_factory=dict)
    tool_use_id: str = ""
    error: str = ""
    is_interrupt: bool = False
    duration: float = 0.0
    mcp_server: Mapping[str, str] | None = None


@event("observe", merged)
def post_tool_use_failure(event: PostToolUseFailure) -> BlockOutcome | None:
    """After a call failed.

    When: before its error reaches the model. How often: once a call that ran and failed, or was refused by its input.
    Answer: `reason` and `additional_context` are given to the model. Merge: texts joined. Failure: reported.
    """


@dataclass(frozen=True, kw_only=True)
class PostToolBatch(EventBase):
    """All calls of one answer have results: each a mapping of tool_name, tool_input, tool_use_id, tool_response."""

    tool_calls: Sequence[Mapping[str, Any]] = ()


@event("observe", merged, preview=True)
def post_tool_batch(event: PostToolBatch) -> BlockOutcome | None:
    """After all calls of one answer (preview).

    When: before the next request. How often: once an answer with calls. Answer: `block` ends the turn before that
    request, with `reason` for the person; `additional_context` is given to the model. Merge: any block blocks. Failure:
    reported.
    """


@dataclass(frozen=True, kw_only=True)
class PreSkillShellCommand(EventBase):
    """A skill's text has a shell command to be run as it is loaded."""

    tool_name: str
    tool_input: Mapping[str, Any] = field(default_factory=dict)
    tool_use_id: str = ""
    command_name: str = ""
    command_source: str | None = None
    invoked_by: str = "user"


@event("decide", _strictest, preview=True)
def pre_skill_shell_command(event: PreSkillShellCommand) -> PreToolUseOutcome | None:
    """Before a command in a skill's text is run (preview).

    When: as the skill is loaded. How often: once a command. Answer: anything but allow keeps it from running; so does a
    new input. Merge: deny > defer > ask > allow. Failure: the command does not run.
    """
