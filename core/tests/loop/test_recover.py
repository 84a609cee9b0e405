"""The table of what is tried when an answer went wrong."""

from __future__ import annotations

from collections import Counter

import pytest

from toolpost import PromptTooLong, ProviderError
from toolpost_core.loop.recover import COURSES, LONGEST_WAIT, Trouble, next_step, trouble_of, wait_before
from toolpost_core.loop.state import StopReason, Transition

T = Transition


def course_of(trouble: Trouble, most: int = 12) -> list[Transition | StopReason]:
    """Return everything that is tried, one after the other, and the end."""
    tried: list[Transition] = []
    while isinstance(step := next_step(trouble, tried), Transition) and len(tried) < most:
        tried.append(step)
    return [*tried, step]


@pytest.mark.requirement("loop.named_transitions")
@pytest.mark.parametrize(
    ("trouble", "course"),
    [
        (
            Trouble.OUTPUT_LIMIT,
            [T.MAX_OUTPUT_TOKENS_ESCALATE, *[T.MAX_OUTPUT_TOKENS_RECOVERY] * 3, StopReason.MODEL_ERROR],
        ),
        (Trouble.TOO_LONG, [T.COLLAPSE_DRAIN_RETRY, T.REACTIVE_COMPACT_RETRY, StopReason.PROMPT_TOO_LONG]),
        (Trouble.BROKE_OFF, [T.STREAM_RETRY, T.STREAM_RETRY, T.WHOLE_ANSWER_RETRY, StopReason.MODEL_ERROR]),
        (Trouble.BROKE_OFF_NO_OTHER, [*[T.STREAM_RETRY] * 10, StopReason.MODEL_ERROR]),
        (Trouble.BLOCK_REFUSED, [T.BLOCK_REPLACED_RETRY, StopReason.MODEL_ERROR]),
        (Trouble.MEDIA_REFUSED, [*[T.BLOCK_REPLACED_RETRY] * 10, StopReason.IMAGE_ERROR]),
        (Trouble.REFUSAL, [StopReason.MODEL_ERROR]),
        (Trouble.FAILED, [StopReason.MODEL_ERROR]),
    ],
)
def test_what_is_tried_and_how_it_ends(trouble: Trouble, course: list[Transition | StopReason]) -> None:
    assert course_of(trouble) == course


def test_an_overloaded_model_is_left_for_the_next_as_long_as_there_is_one() -> None:
    assert set(course_of(Trouble.OVERLOADED)) == {T.MODEL_FALLBACK}
    midway = course_of(Trouble.BROKE_OFF_OVERLOADED)
    assert (midway[:2], set(midway[2:])) == ([T.STREAM_RETRY] * 2, {T.MODEL_FALLBACK})


def test_what_was_tried_for_another_trouble_counts_for_itself_only() -> None:
    tried = [T.STREAM_RETRY, T.MAX_OUTPUT_TOKENS_ESCALATE]

    assert next_step(Trouble.OUTPUT_LIMIT, tried) is T.MAX_OUTPUT_TOKENS_RECOVERY
    assert next_step(Trouble.BROKE_OFF, tried) is T.STREAM_RETRY
    assert next_step(Trouble.TOO_LONG, tried) is T.COLLAPSE_DRAIN_RETRY


def test_no_course_is_empty_of_an_end_or_goes_over_a_step_twice() -> None:
    assert set(COURSES) == set(Trouble)
    for course in COURSES.values():
        assert max(Counter(step.transition for step in course.steps).values(), default=1) == 1


def cut(kind: str = "connection") -> ProviderError:
    return ProviderError("cut", kind=kind, retriable=True)


@pytest.mark.parametrize(
    ("begun", "stop_reason", "error", "trouble"),
    [
        (True, "end_turn", None, None),
        (True, "something_new", None, None),
        (True, "max_tokens", None, Trouble.OUTPUT_LIMIT),
        (True, "model_context_window_exceeded", None, Trouble.TOO_LONG),
        (True, "refusal", None, Trouble.REFUSAL),
        (False, None, PromptTooLong("too long"), Trouble.TOO_LONG),
        (True, None, cut(), Trouble.BROKE_OFF),
        (False, None, cut(), Trouble.FAILED),  # the provider has tried it again already
        (True, None, cut("overloaded"), Trouble.BROKE_OFF_NO_OTHER),
        (False, None, cut("overloaded"), Trouble.OVERLOADED),
        (False, None, ProviderError("bad", kind="invalid_block"), Trouble.BLOCK_REFUSED),
        (False, None, ProviderError("bad", kind="invalid_image"), Trouble.MEDIA_REFUSED),
        (False, None, ProviderError("bad", kind="invalid_request"), Trouble.FAILED),
        (True, None, ProviderError("bug"), Trouble.FAILED),
    ],
)
def test_what_is_wrong_with_an_answer(
    begun: bool, stop_reason: str | None, error: ProviderError | None, trouble: Trouble | None
) -> None:
    assert trouble_of(begun=begun, stop_reason=stop_reason, error=error) is trouble


def test_an_overload_in_the_middle_is_waited_out_unless_another_model_can_be_asked() -> None:
    broke_off = {"begun": True, "stop_reason": None, "error": cut("overloaded")}

    assert trouble_of(**broke_off, has_fallback=True) is Trouble.BROKE_OFF_OVERLOADED  # type: ignore[arg-type]
    assert trouble_of(**broke_off, has_fallback=False) is Trouble.BROKE_OFF_NO_OTHER  # type: ignore[arg-type]


def test_waits_grow_up_to_a_limit_and_are_spread_downwards() -> None:
    longest = [wait_before(attempt, None, 1.0) for attempt in range(1, 12)]
    shortest = [wait_before(attempt, None, 0.0) for attempt in range(1, 12)]

    assert longest[:7] == [0.5, 1, 2, 4, 8, 16, 32]
    assert longest[7:] == [32] * 4
    assert shortest == [wait * 0.75 for wait in longest]


def test_a_wait_that_is_asked_for_is_not_spread() -> None:
    assert {wait_before(9, 3.0, chance) for chance in (0.0, 0.5, 1.0)} == {3.0}


def test_an_answer_is_not_asked_for_again_before_the_service_wants_that() -> None:
    soon = ProviderError("busy", kind="rate_limit", retriable=True, retry_after=LONGEST_WAIT)
    late = ProviderError("busy", kind="rate_limit", retriable=True, retry_after=LONGEST_WAIT + 1)
    overloaded = ProviderError("busy", kind="overloaded", retriable=True, retry_after=LONGEST_WAIT + 1)

    assert trouble_of(begun=True, stop_reason=None, error=soon) is Trouble.BROKE_OFF
    assert trouble_of(begun=True, stop_reason=None, error=late) is Trouble.FAILED
    assert trouble_of(begun=True, stop_reason=None, error=overloaded, has_fallback=True) is Trouble.OVERLOADED
