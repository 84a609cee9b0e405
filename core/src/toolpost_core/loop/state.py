"""The loop's state, and the names of all its ends and transitions."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import toolpost
from toolpost._frozen import frozen

if TYPE_CHECKING:
    from toolpost import Message, ProviderError, Remedy, ToolUse, Usage
    from toolpost_core.loop.target import Target


class StopReason(StrEnum):
    """Why a run ended; every run ends for exactly one of these."""

    COMPLETED = "completed"
    MAX_TURNS = "max_turns"
    MAX_BUDGET = "max_budget"
    ABORTED_STREAMING = "aborted_streaming"
    ABORTED_TOOLS = "aborted_tools"
    BLOCKING_LIMIT = "blocking_limit"
    IMAGE_ERROR = "image_error"
    MODEL_ERROR = "model_error"
    PROMPT_TOO_LONG = "prompt_too_long"
    HOOK_STOPPED = "hook_stopped"
    STOP_HOOK_PREVENTED = "stop_hook_prevented"
    TOOL_DEFERRED = "tool_deferred"
    TOOL_DEFERRED_UNAVAILABLE = "tool_deferred_unavailable"


class Transition(StrEnum):
    """Why a run went on for another request."""

    NEXT_TURN = "next_turn"
    MAX_OUTPUT_TOKENS_ESCALATE = "max_output_tokens_escalate"
    MAX_OUTPUT_TOKENS_RECOVERY = "max_output_tokens_recovery"
    COLLAPSE_DRAIN_RETRY = "collapse_drain_retry"
    REACTIVE_COMPACT_RETRY = "reactive_compact_retry"
    STOP_HOOK_BLOCKING = "stop_hook_blocking"
    TOKEN_BUDGET_CONTINUATION = "token_budget_continuation"
    MODEL_FALLBACK = "model_fallback"
    STREAM_RETRY = "stream_retry"
    WHOLE_ANSWER_RETRY = "whole_answer_retry"
    BLOCK_REPLACED_RETRY = "block_replaced_retry"


class Full(NamedTuple):
    """Why a request would not fit, and what helps."""

    told: str
    remedies: tuple[Remedy, ...] = ()


@frozen()
class State:
    """A run between two requests.

    `turn` counts the requests of this run from 1, leaving out those that only mend an answer. `stop_blocks` counts Stop
    listeners' blocks in a row, `pauses` the model's. `used` is the number of tokens that the last request and its answer had
    together. `tried` is what was done about troubles since the last sound answer. `raised` lets answers be long, `said` are
    the texts of answers that were cut and are gone on with, `superseded` the records of what was discarded. `target` is
    what the person wants spent. `full` says why the next request would not fit the window.
    """

    messages: tuple[Message, ...]
    turn: int = 1
    stop_blocks: int = 0
    pauses: int = 0
    used: int = 0
    transition: Transition | None = None
    breakpoints: tuple[int, ...] = ()
    tried: tuple[Transition, ...] = ()
    raised: bool = False
    said: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
    target: Target | None = None
    full: Full | None = None


@frozen()
class Ended:
    """How a run ended; `usage` is that of its own requests, those that were made again included.

    `deferred` is the call that a hook put off, with whose answer the state ends. `remedies` are what a person can do.
    """

    state: State
    reason: StopReason
    text: str = ""
    stop_reason: str | None = None
    error: ProviderError | None = None
    told: str = ""
    api_duration: float = 0.0
    usage: Usage = field(default_factory=toolpost.Usage)
    deferred: ToolUse | None = None
    remedies: tuple[Remedy, ...] = ()


class NewModel(NamedTuple):
    """The model that a run goes over to, and the one that was overloaded."""

    name: str
    instead_of: str
