"""What is tried when an answer went wrong, in which order and how often, and how the run ends if nothing helps. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

from toolpost import PromptTooLong
from toolpost_core.loop.state import StopReason, Transition

if TYPE_CHECKING:
    from toolpost import ProviderError

WITHOUT_END: Final = 1_000
"""How often a step may be tried that says by itself when there is nothing left to try."""
FIRST_WAIT: Final = 0.5
LONGEST_BACK_OFF: Final = 32.0
SPREAD: Final = 0.25
"""The part of a wait that chance may take off: those who failed together do not come back together."""
LONGEST_WAIT: Final = 120.0
"""Seconds; where a service asks to wait longer, the person wants to know instead."""
ASK_AGAIN: Final = (Transition.STREAM_RETRY, Transition.WHOLE_ANSWER_RETRY)
"""The steps that ask for an answer again which broke off."""


class Trouble(StrEnum):
    """What can be wrong with an answer, or stand in the way of one."""

    OUTPUT_LIMIT = "output_limit"
    TOO_LONG = "too_long"
    OVERLOADED = "overloaded"
    BROKE_OFF = "broke_off"
    BROKE_OFF_OVERLOADED = "broke_off_overloaded"
    BROKE_OFF_NO_OTHER = "broke_off_no_other"
    BLOCK_REFUSED = "block_refused"
    MEDIA_REFUSED = "media_refused"
    REFUSAL = "refusal"
    FAILED = "failed"


class Step(NamedTuple):
    """A way to go on, and how often it is tried before the next one is."""

    transition: Transition
    times: int = 1


class Course(NamedTuple):
    """The ways to go on, in their order, and the end where none of them helped."""

    steps: tuple[Step, ...]
    end: StopReason


COURSES: Final[Mapping[Trouble, Course]] = {
    Trouble.OUTPUT_LIMIT: Course(
        (Step(Transition.MAX_OUTPUT_TOKENS_ESCALATE), Step(Transition.MAX_OUTPUT_TOKENS_RECOVERY, 3)),
        StopReason.MODEL_ERROR,
    ),
    Trouble.TOO_LONG: Course(
        (Step(Transition.COLLAPSE_DRAIN_RETRY), Step(Transition.REACTIVE_COMPACT_RETRY)), StopReason.PROMPT_TOO_LONG
    ),
    Trouble.OVERLOADED: Course((Step(Transition.MODEL_FALLBACK, WITHOUT_END),), StopReason.MODEL_ERROR),
    Trouble.BROKE_OFF: Course(
        (Step(Transition.STREAM_RETRY, 2), Step(Transition.WHOLE_ANSWER_RETRY)), StopReason.MODEL_ERROR
    ),
    Trouble.BROKE_OFF_OVERLOADED: Course(
        (Step(Transition.STREAM_RETRY, 2), Step(Transition.MODEL_FALLBACK, WITHOUT_END)), StopReason.MODEL_ERROR
    ),
    # As often as a provider asks again before an answer begins: an overload passes, and nobody else is there to ask.
    Trouble.BROKE_OFF_NO_OTHER: Course((Step(Transition.STREAM_RETRY, 10),), StopReason.MODEL_ERROR),
    Trouble.BLOCK_REFUSED: Course((Step(Transition.BLOCK_REPLACED_RETRY),), StopReason.MODEL_ERROR),
    # The service names one picture at a time, and a person may have pasted several of the kind.
    Trouble.MEDIA_REFUSED: Course((Step(Transition.BLOCK_REPLACED_RETRY, 10),), StopReason.IMAGE_ERROR),
    Trouble.REFUSAL: Course((), StopReason.MODEL_ERROR),
    Trouble.FAILED: Course((), StopReason.MODEL_ERROR),
}


def trouble_of(
    *, begun: bool, stop_reason: str | None, error: ProviderError | None, has_fallback: bool = False
) -> Trouble | None:
    """Say what is wrong with an answer; None where it is sound.

    `begun` says that some of it had come, `has_fallback` that another model waits to be asked instead.
    """
    if error is None:
        return _BY_STOP_REASON.get(stop_reason or "")
    if isinstance(error, PromptTooLong):
        return Trouble.TOO_LONG
    if begun and error.retriable and (error.retry_after or 0.0) <= LONGEST_WAIT:
        if error.kind != "overloaded":
            return Trouble.BROKE_OFF
        return Trouble.BROKE_OFF_OVERLOADED if has_fallback else Trouble.BROKE_OFF_NO_OTHER
    return _BY_KIND.get(error.kind, Trouble.FAILED)


def retries_of(trouble: Trouble) -> int:
    """Return how often an answer that broke off is asked for again, in a stream or as a whole."""
    return sum(step.times for step in COURSES[trouble].steps if step.transition in ASK_AGAIN)


def wait_before(attempt: int, asked_for: float | None, chance: float) -> float:
    """Return the seconds before an answer is asked for again: what the service says, else twice as long each time.

    `chance` is a number from 0 to 1, by which waits are spread.
    """
    if asked_for is not None:
        return asked_for
    return min(FIRST_WAIT * 2.0 ** (attempt - 1), LONGEST_BACK_OFF) * (1 - SPREAD * (1 - chance))


def next_step(trouble: Trouble, tried: Sequence[Transition]) -> Transition | StopReason:
    """Return how to go on after what was tried already, or the end."""
    course = COURSES[trouble]
    left = (step.transition for step in course.steps if tried.count(step.transition) < step.times)
    return next(left, course.end)


_BY_STOP_REASON: Final[Mapping[str, Trouble]] = {
    "max_tokens": Trouble.OUTPUT_LIMIT,
    "model_context_window_exceeded": Trouble.TOO_LONG,
    "refusal": Trouble.REFUSAL,
}
_BY_KIND: Final[Mapping[str, Trouble]] = {
    "overloaded": Trouble.OVERLOADED,
    "invalid_block": Trouble.BLOCK_REFUSED,
    "invalid_image": Trouble.MEDIA_REFUSED,
}
