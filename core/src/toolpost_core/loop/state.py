"""The loop's state, and the names of all its ends and transitions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolpost import Message


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


@dataclass(frozen=True)
class State:
    """A run between two requests.

    `turn` counts the requests of this run from 1. `stop_blocks` counts Stop listeners' blocks in a row. `used` is the
    number of tokens that the last request and its answer had together.
    """

    messages: tuple[Message, ...]
    turn: int = 1
    stop_blocks: int = 0
    used: int = 0
    transition: Transition | None = None
    breakpoints: tuple[int, ...] = ()
