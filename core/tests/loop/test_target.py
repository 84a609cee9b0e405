from __future__ import annotations

import pytest

from toolpost_core.loop.target import Target, target_in


@pytest.mark.parametrize(
    ("prompt", "tokens"),
    [
        ("+500k mend all tests", 500_000),
        ("mend all tests +1.5M", 1_500_000),
        ("mend all tests\n+20k.", 20_000),
        ("+0k do it", None),
        ("add +500k to the salary column", None),
        ("a+5k", None),
        ("use +5kg", None),
        ("mend all tests", None),
    ],
)
def test_a_target_stands_at_the_beginning_or_end_of_a_prompt(prompt: str, tokens: int | None) -> None:
    found = target_in(prompt)
    assert (found.tokens if found else None) == tokens


def test_it_goes_on_until_nine_tenths_are_spent() -> None:
    target: Target | None = Target(10_000)
    answers = 0
    while target is not None:
        target, answers = target.with_answer(2_000).gone_on(), answers + 1

    assert answers == 5


def test_it_is_given_up_after_three_times_in_a_row_of_little() -> None:
    target: Target | None = Target(100_000)
    told = []
    for gained in (5_000, 100, 400, 2_000, 100, 499, 20):
        assert target is not None
        target = target.with_answer(gained).gone_on()
        told.append(target is not None)

    assert told == [True] * 6 + [False]


def test_the_model_is_told_how_far_it_got() -> None:
    going = Target(100_000).with_answer(25_000).gone_on()
    assert going is not None
    assert all(part in going.nudge for part in ("25,000", "100,000", "25%"))
