"""The tree of budgets, without a session."""

from __future__ import annotations

from datetime import date

import pytest

from toolpost import BudgetLimits, CostLine, LaunchOptions, ModelInfo, Price, Usage
from toolpost_core.loop.budget import SMALL_ANSWER, Budget, limits_of

MODEL = ModelInfo(
    id="m",
    price=Price(input=1, output=2, cache_write=1.25, cache_read=0.1, as_of=date(2026, 1, 1)),
    prompt_caching=True,
)
UNKNOWN = ModelInfo(id="unknown")
MILLION = 1_000_000


def test_what_a_child_uses_is_used_above_and_listed_under_its_name() -> None:
    root = Budget()
    child = root.child("agent:Explore")
    grandchild = child.child("agent:Plan")
    root.add(MODEL, Usage(1, 1))
    child.add(MODEL, Usage(10, 10))
    grandchild.add(MODEL, Usage(100, 100))

    assert {line.spender: line.usage.input_tokens for line in root.ledger.lines.values()} == {
        "main": 1,
        "agent:Explore": 10,
        "agent:Plan": 100,
    }
    assert child.ledger.tokens == 220
    assert root.ledger.by_model()["m"].requests == 3


def test_a_request_is_refused_before_it_is_sent_where_what_is_left_does_not_pay_for_it() -> None:
    budget = Budget(BudgetLimits(dollars=2.0))
    budget.add(MODEL, Usage(input_tokens=MILLION))

    assert budget.refusal() is None
    assert budget.refusal(budget.expected(MODEL, 0, 500_000)) is None
    why = budget.refusal(budget.expected(MODEL, 0, 900_000))
    assert why is not None
    assert "1.0000 of 2.0000 dollars are spent, and the next request costs 1.12" in why


def test_a_prompt_that_the_cache_holds_is_counted_as_read_from_it() -> None:
    cached = Budget().expected(MODEL, known=MILLION, new=0)
    uncached = Budget().expected(ModelInfo(id="m", price=MODEL.price), known=MILLION, new=0)
    answer = SMALL_ANSWER * 2 / MILLION

    assert cached.dollars == pytest.approx(0.1 + answer)
    assert uncached.dollars == pytest.approx(1.0 + answer)


def test_requests_beside_one_another_do_not_count_on_the_same_rest() -> None:
    root = Budget(BudgetLimits(tokens=10_000))
    one, two = root.child("one"), root.child("two")
    request = one.expected(MODEL, 0, 6_000)
    with one.under_way(request):
        refusal = two.refusal(two.expected(MODEL, 0, 6_000))
        assert refusal is not None
        assert "0 of 10,000 tokens are used, 6,256 are held back for what is under way, and the next" in refusal
    assert two.refusal(two.expected(MODEL, 0, 6_000)) is None


def test_a_limit_above_stops_a_child_and_its_own_limit_stops_nobody_else() -> None:
    root = Budget(BudgetLimits(tokens=1_000))
    small = root.child("small", BudgetLimits(tokens=10))
    small.add(UNKNOWN, Usage(10, 0))
    assert small.refusal() == "The budget of small is used up: 10 of 10 tokens are used."
    assert root.refusal() is None

    root.add(UNKNOWN, Usage(990, 0))
    assert root.child("late").refusal() == "The budget is used up: 1,000 of 1,000 tokens are used."


def test_a_share_is_of_what_is_left_when_it_is_given() -> None:
    root = Budget(BudgetLimits(dollars=10.0, tokens=3 * MILLION))
    root.add(MODEL, Usage(input_tokens=2 * MILLION))
    half = root.child("half", BudgetLimits(tokens=MILLION), share=0.5)

    assert half.limits.dollars == pytest.approx(4.0)
    assert half.limits.tokens == 500_000
    assert half.left.dollars == pytest.approx(4.0)


def test_turns_are_requests_of_conversations_only() -> None:
    budget = Budget(BudgetLimits(turns=2))
    for turn in (True, False, True):
        with budget.under_way(budget.expected(MODEL, 0, 1, turn=turn)):
            pass
    assert budget.refusal() == "The budget is used up: its 2 turns were made."


def test_seconds_are_counted_for_everything_below() -> None:
    now = [100.0]
    root = Budget(BudgetLimits(seconds=60), clock=lambda: now[0])
    child = root.child("agent", BudgetLimits(seconds=90))
    now[0] += 59
    assert child.refusal() is None
    assert child.left.seconds == pytest.approx(1.0)
    now[0] += 1
    assert child.refusal() == "The budget is used up: its 60 seconds are over."


def test_a_model_without_a_price_is_held_by_tokens_alone() -> None:
    budget = Budget(BudgetLimits(dollars=1.0))
    budget.add(UNKNOWN, Usage(MILLION, MILLION))
    assert budget.refusal(budget.expected(UNKNOWN, MILLION, MILLION)) is None
    assert [line.dollars for line in budget.ledger.lines.values()] == [None]


def test_what_is_asked_for_goes_before_the_settings_also_where_it_is_nothing() -> None:
    assert limits_of(LaunchOptions(), 5.0).dollars == 5.0
    assert limits_of(LaunchOptions(max_budget_usd=1.0), 5.0).dollars == 1.0
    assert limits_of(LaunchOptions(max_budget_usd=0.0), 5.0).dollars == 0.0


def test_time_goes_by_the_clock_of_the_session_from_its_start() -> None:
    budget = Budget(BudgetLimits(seconds=5), clock=lambda: 0.0)
    now = [100.0]
    budget.keep_time(lambda: now[0])
    now[0] = 104.0

    assert budget.left.seconds == budget.child("agent").left.seconds == 1.0


def test_each_request_is_told_at_the_root_whoever_asked() -> None:
    told: list[CostLine] = []
    budget = Budget(tell=told.append)
    budget.child("agent: looker").add(ModelInfo(id="m"), Usage(3, 4))

    assert [(line.spender, line.model, line.usage.output_tokens) for line in told] == [("agent: looker", "m", 4)]
