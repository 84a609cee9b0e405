from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpost import Allow, Ask, Behavior, Decision, Deny, Rule
from toolpost_core.permissions.combine import Kind, Opinion, combine
from toolpost_core.permissions.record import as_json

MAKERS = {"allow": Allow, "ask": Ask, "deny": Deny}


def opinion(kind: Kind, behavior: Behavior, reason: str = "", dropped: str = "") -> Opinion:
    rule = Rule.parse("Bash", behavior, "userSettings") if kind == "rule" else None
    decision: Decision = MAKERS[behavior](reason or f"{kind} {behavior}", rule=rule)
    return Opinion(f"{kind}-{behavior}", kind, decision, dropped)


LADDER = [
    opinion("rule", "deny"),
    opinion("hook", "deny"),
    opinion("rule", "ask"),
    opinion("hook", "ask"),
    opinion("rule", "allow"),
    opinion("hook", "allow"),
]
opinions = st.builds(
    opinion,
    st.sampled_from(get_args(Kind)),
    st.sampled_from(["allow", "ask", "deny"]),
    st.just(""),
    st.sampled_from(["", "", "may only tighten"]),
)


@pytest.mark.requirement("permissions.precedence")
@pytest.mark.parametrize("stronger", range(len(LADDER)))
@pytest.mark.parametrize("weaker", range(len(LADDER)))
def test_of_two_opinions_the_stronger_one_decides_in_either_order(stronger: int, weaker: int) -> None:
    if stronger > weaker:
        stronger, weaker = weaker, stronger
    pair = [LADDER[stronger], LADDER[weaker]]

    assert combine(pair, cannot_ask=None).decisive == LADDER[stronger]
    assert combine(pair[::-1], cannot_ask=None).decisive == LADDER[stronger]


@pytest.mark.requirement("permissions.hook_allow_passes_no_rule")
@pytest.mark.parametrize("behavior", ["ask", "deny"])
@pytest.mark.parametrize("kind", ["rule", "resolver", "tool", "failure"])
def test_an_allow_of_a_hook_passes_neither_a_deny_nor_an_ask(kind: Kind, behavior: Behavior) -> None:
    assert combine([opinion("hook", "allow"), opinion(kind, behavior)], cannot_ask=None).behavior == behavior


def test_nobody_with_an_opinion_is_an_ask() -> None:
    verdict = combine([], cannot_ask=None)

    assert (verdict.behavior, verdict.resolver) == ("ask", "default")


@pytest.mark.requirement("permissions.ask_without_a_person_is_deny")
def test_an_ask_where_nobody_can_be_asked_is_a_deny_that_says_so() -> None:
    verdict = combine([opinion("rule", "ask", "rule asks")], cannot_ask="nobody is there")

    assert (verdict.behavior, verdict.wanted, verdict.reason) == ("deny", "ask", "rule asks; nobody is there")


def test_a_dropped_opinion_does_not_count_and_stays_in_the_record() -> None:
    dropped = opinion("resolver", "allow", dropped="may only tighten")
    verdict = combine([dropped], cannot_ask=None)

    assert verdict.behavior == "ask"
    assert as_json(verdict)["trace"][0]["dropped"] == "may only tighten"


def test_the_first_of_equal_opinions_gives_the_reason() -> None:
    verdict = combine([opinion("hook", "deny", "one"), opinion("resolver", "deny", "two")], cannot_ask=None)

    assert verdict.reason == "one"


@given(st.lists(opinions, max_size=8), st.booleans())
def test_no_call_is_allowed_while_any_opinion_that_counts_denies_or_asks(held: list[Opinion], can_ask: bool) -> None:
    verdict = combine(held, cannot_ask=None if can_ask else "nobody")
    counting = {o.decision.behavior for o in held if not o.dropped}

    assert (verdict.behavior == "allow") == (counting == {"allow"})
    assert verdict.wanted == next((b for b in ("deny", "ask") if b in counting), "allow" if counting else "ask")
    assert verdict.behavior != "ask" or can_ask
    assert verdict.opinions == tuple(held)


@given(st.lists(opinions, max_size=8), opinions)
def test_one_more_opinion_never_loosens_a_verdict_that_had_one(held: list[Opinion], more: Opinion) -> None:
    strictness = ("allow", "ask", "deny").index
    before, after = combine(held, cannot_ask=None), combine([*held, more], cannot_ask=None)

    if any(not o.dropped for o in held):
        assert strictness(after.behavior) >= strictness(before.behavior)


@given(st.lists(opinions, max_size=6), st.randoms())
def test_the_order_of_opinions_does_not_change_what_is_decided(held: list[Opinion], random: object) -> None:
    shuffled = list(held)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    assert combine(shuffled, cannot_ask=None).behavior == combine(held, cannot_ask=None).behavior
