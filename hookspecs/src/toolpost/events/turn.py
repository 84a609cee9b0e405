"""Events of a turn: prompts, ends, and requests to the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from toolpost._hooks import event
from toolpost.events._base import BlockOutcome, EventBase, Outcome, merged

if TYPE_CHECKING:
    from toolpost.messages import Message
    from toolpost.providers import ModelRequest, Usage


@dataclass(frozen=True, kw_only=True)
class UserPromptSubmit(EventBase):
    """A person or program submitted a prompt."""

    prompt: str
    source: str = "user"
    session_title: str | None = None


@dataclass(frozen=True, kw_only=True)
class UserPromptSubmitOutcome(BlockOutcome):
    """`block` erases the prompt and shows `reason` to the person; `additional_context` goes with the prompt.

    The person is shown a blocked prompt again unless `suppress_original_prompt`. `session_title` names the session.
    """

    session_title: str = ""
    suppress_original_prompt: bool = False


@event("decide", merged, deadline=30.0)
def user_prompt_submit(event: UserPromptSubmit) -> UserPromptSubmitOutcome | None:
    """When a prompt was submitted.

    When: before anything of it is kept or sent. How often: once a prompt. Answer: `block` with `reason`, or
    `additional_context`. Merge: any block blocks, texts joined. Failure: blocks.
    """


@dataclass(frozen=True, kw_only=True)
class UserPromptExpansion(EventBase):
    """A slash command or MCP prompt was expanded."""

    prompt: str
    expansion_type: Literal["slash_command", "mcp_prompt"] = "slash_command"
    command_name: str = ""
    command_args: str = ""
    command_source: str | None = None


@event("decide", merged, preview=True)
def user_prompt_expansion(event: UserPromptExpansion) -> UserPromptSubmitOutcome | None:
    """When a command becomes a prompt (preview).

    When: before UserPromptSubmit. How often: once an expansion. Answer and merge: as UserPromptSubmit. Failure: blocks.
    """


@dataclass(frozen=True, kw_only=True)
class StopEvent(EventBase):
    """The model ended its turn. `stop_hook_active`: it had ended before and a listener kept it going."""

    stop_hook_active: bool = False
    last_assistant_message: str = ""
    background_tasks: Sequence[Mapping[str, Any]] = ()
    session_crons: Sequence[Mapping[str, Any]] = ()


@event("observe", merged, deadline=600.0)
def stop(event: StopEvent) -> BlockOutcome | None:
    """When the model ended its turn.

    When: no call is open and nothing is queued. How often: once an end; at most 8 blocks in a row. Answer: `block` with
    `reason` keeps the model going, and it reads the reason. Merge: any block blocks. Failure: reported, the turn ends.
    """


@dataclass(frozen=True, kw_only=True)
class StopFailure(EventBase):
    """The turn ended in an error; `error` is its kind."""

    error: str
    error_details: str = ""
    last_assistant_message: str = ""


@event("observe", merged)
def stop_failure(event: StopFailure) -> Outcome | None:
    """When a turn ended in an error.

    When: after every recovery failed. How often: once a turn. Answer: none. Failure: reported.
    """


@dataclass(frozen=True, kw_only=True)
class Notification(EventBase):
    """The person should look."""

    message: str
    title: str = ""
    notification_type: str = ""


@event("observe", merged)
def notification(event: Notification) -> Outcome | None:
    """When the person's attention is wanted.

    When: as it is shown. How often: once a notice. Answer: `additional_context`. Failure: reported.
    """


@dataclass(frozen=True, kw_only=True)
class BeforeModel(EventBase):
    """A request is about to be sent."""

    request: ModelRequest


@dataclass(frozen=True, kw_only=True)
class BeforeModelOutcome(BlockOutcome):
    """`request` is sent instead; `block` ends the turn."""

    request: ModelRequest | None = None


def _with_request(value: BeforeModel, outcome: BeforeModelOutcome) -> BeforeModel:
    return value if outcome.request is None else replace(value, request=outcome.request)


@event("decide", merged, rewrites=_with_request, preview=True)
def before_model(event: BeforeModel) -> BeforeModelOutcome | None:
    """Before each request to the model (preview).

    When: after compaction. How often: once a request. Answer: `request` replaces it (and may cost the prompt cache);
    `block` ends the turn. Merge: one after another. Failure: blocks.
    """


@dataclass(frozen=True, kw_only=True)
class AfterModel(EventBase):
    """The model answered."""

    request: ModelRequest
    message: Message
    usage: Usage
    duration: float = 0.0


@event("observe", merged, preview=True)
def after_model(event: AfterModel) -> Outcome | None:
    """After each answer of the model (preview).

    When: the answer is complete; its calls may already run. How often: once a request. Answer: none. Failure: reported.
    """


@dataclass(frozen=True, kw_only=True)
class ModelSwitch(EventBase):
    """The model changes or changed.

    `requested_model` is the name that was asked for. The other model has to read all `context_tokens` anew, which costs
    `estimated_cache_write_usd`; `prompt_cache_warm` says whether the present one would still find them in its cache.
    """

    from_model: str
    to_model: str
    requested_model: str | None = None
    source: Literal["command", "picker", "sdk", "auto", "resume"] = "command"
    context_tokens: int = 0
    prompt_cache_warm: bool = False
    cache_ttl: Literal["5m", "1h"] = "5m"
    estimated_cache_write_usd: float = 0.0
    pricing: Literal["configured", "catalog", "default"] = "default"


@event("decide", merged, preview=True)
def pre_model_switch(event: ModelSwitch) -> BlockOutcome | None:
    """Before the model changes (preview).

    When: as it is asked for. How often: once a change that was asked for. Answer: `block` keeps the old one. Merge: any
    block blocks. Failure: blocks.
    """


@event("observe", merged, preview=True)
def post_model_switch(event: ModelSwitch) -> Outcome | None:
    """After the model changed (preview).

    When: before the next request. How often: once a change. Answer: `additional_context` goes with the next request.
    Failure: reported.
    """


@dataclass(frozen=True, kw_only=True)
class MessageDisplay(EventBase):
    """Text of the model is about to be shown: whole lines, `final` the last piece of its message."""

    turn_id: str = ""
    message_id: str = ""
    index: int = 0
    final: bool = False
    delta: str = ""


@dataclass(frozen=True, kw_only=True)
class MessageDisplayOutcome(Outcome):
    """`display_content` is shown instead; what the model reads stays as it is."""

    display_content: str | None = None


@event("observe", merged, deadline=10.0, preview=True)
def message_display(event: MessageDisplay) -> MessageDisplayOutcome | None:
    """Before text is shown (preview).

    When: as it comes, line by line. How often: once a piece. Answer: `display_content` is shown instead; the model and
    the transcript keep the original. Merge: the last one counts. Failure: the original is shown.
    """
