"""Which strategy acts, in what order, and what becomes of one that fails."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar

import pytest
from listener_bench import Bench

from toolpost import Aborted, BlockOutcome, CompactionResult, CompactionStrategy, Context, Message, Trigger, on
from toolpost.testing import conversation
from toolpost_core.events.dispatch import Dispatcher
from toolpost_core.loop.compacting import Compactor, Named, unknown_in


class Drops(CompactionStrategy):
    """Drops the first turn, or does what it is told."""

    score: float = 1.0
    raises: Exception | None = None
    grows: bool = False

    def applies(self, context: Context) -> float:
        return self.score

    async def compact(self, context: Context) -> CompactionResult | None:
        if self.raises is not None:
            raise self.raises
        if self.grows:
            return context.result([*context.messages, *conversation(1)])
        return context.result(context.messages[4:])


class Hangs(CompactionStrategy):
    """Never ends."""

    def applies(self, context: Context) -> float:
        return 1.0

    async def compact(self, context: Context) -> CompactionResult | None:
        await asyncio.Event().wait()
        return None


class Early(Drops):
    order: ClassVar[int] = 10


class Sums(Drops):
    summarizes: ClassVar[bool] = True
    triggers: ClassVar[tuple[Trigger, ...]] = ("auto", "manual")

    async def compact(self, context: Context) -> CompactionResult | None:
        text = f"Summed up: {context.instructions}"
        return context.result(context.begun_with(text, len(context.messages)), text)


class Compacting:
    """A Compactor, what it reported, and the names in the order in which they acted."""

    def __init__(self, events: Dispatcher, strategies: dict[str, CompactionStrategy], order: Sequence[str]) -> None:
        named = [Named(name, strategy) for name, strategy in strategies.items()]
        self.reports: list[str] = []
        self._compactor = Compactor(
            strategies=named, order=order, events=events, report=self.reports.append, timeout=0.05
        )

    async def acted(self, context: Context, *, summaries: bool = True) -> list[str]:
        done: set[str] = set()
        names: list[str] = []
        while (step := await self._compactor.step(context, done, summaries=summaries)) is not None:
            names.append(step.named.plugin)
        return names


def compacting(
    order: Sequence[str] = (), listeners: Sequence[Any] = (), **strategies: CompactionStrategy
) -> Compacting:
    bench = Bench()
    bench.add("listening", *listeners)
    return Compacting(bench.events, strategies, order)


def context(trigger: Trigger = "auto", **fields: Any) -> Context:
    return Context(messages=conversation(9), used=190_000, trigger=trigger, **fields)


async def test_they_act_by_their_order_and_among_equals_by_their_score() -> None:
    it = compacting(low=Drops(score=0.1), high=Drops(score=3.0), first=Early(), off=Drops(score=0.0))
    assert await it.acted(context()) == ["first", "high", "low"]


async def test_the_settings_say_which_come_first() -> None:
    it = compacting(["low", "nobody", "first"], low=Drops(score=0.1), high=Drops(), first=Early())
    assert await it.acted(context()) == ["low", "first", "high"]


async def test_one_is_asked_only_on_its_occasions_and_for_a_summary_only_where_that_may_be() -> None:
    it = compacting(first=Early(), sums=Sums())
    assert await it.acted(context("before_request")) == ["first"]
    assert await it.acted(context("auto"), summaries=False) == ["first"]
    assert await it.acted(context("manual")) == ["first", "sums"]


async def test_one_that_fails_is_passed_over_and_after_three_times_left_to_a_person() -> None:
    given = context()
    it = compacting(bad=Early(raises=RuntimeError("no")), good=Drops())
    for _ in range(5):
        assert await it.acted(given) == ["good"]
    assert len(it.reports) == 3
    assert "'bad'" in it.reports[0]
    assert "unless you ask for a compaction" in it.reports[2]
    await it.acted(Context(messages=given.messages, trigger="manual", stash=given.stash))
    assert len(it.reports) == 4


async def test_a_success_between_failures_begins_the_count_anew() -> None:
    given = context()
    for strategy in (Early(raises=RuntimeError("no")), Early(), Early(raises=RuntimeError("no"))):
        it = compacting(it=strategy)
        for _ in range(2):
            await it.acted(given)
        assert not any("in a row" in report for report in it.reports)


async def test_what_gets_no_shorter_is_a_failure() -> None:
    it = compacting(it=Drops(grows=True))
    assert await it.acted(context()) == []
    assert "no shorter" in it.reports[0]


def only_the_middle(context: Context) -> object:
    return context.result(context.messages[1:5])


def without_a_result(context: Context) -> object:
    return context.result([message for index, message in enumerate(context.messages) if index != 2])


def ended_by_the_model(context: Context) -> object:
    return context.result(context.messages[:-1])


UNFIT = {
    "neither a CompactionResult nor None": lambda context: list(context.messages[-1:]),
    "begin with a message of the user": only_the_middle,
    "a call from its result": without_a_result,
    "to be answered": ended_by_the_model,
    "role 'system'": lambda context: context.result([{"role": "system", "content": "x"}]),
    "KeyError": lambda context: context.result([{}]),
}


@pytest.mark.parametrize(("why", "made"), UNFIT.items(), ids=UNFIT)
async def test_what_the_service_would_refuse_is_a_failure(why: str, made: Any) -> None:
    class Unfit(Drops):
        async def compact(self, context: Context) -> CompactionResult | None:
            return made(context)  # type: ignore[no-any-return]

    it = compacting(unfit=Unfit(), good=Drops())
    asked: Message = {"role": "user", "content": "And now?"}
    assert await it.acted(Context(messages=[*conversation(9), asked], trigger="auto")) == ["good"]
    assert why in it.reports[0]


@pytest.mark.parametrize("score", [None, "high"])
async def test_a_score_that_is_no_number_is_a_failure(score: Any) -> None:
    class Scored(Drops):
        def applies(self, context: Context) -> float:
            return score  # type: ignore[no-any-return]

    it = compacting(odd=Scored(), good=Drops())
    assert await it.acted(context()) == ["good"]
    assert f"{score!r}, which is no number" in it.reports[0]


async def test_what_a_result_says_of_itself_is_counted_again() -> None:
    class Bare(Drops):
        async def compact(self, context: Context) -> CompactionResult | None:
            return CompactionResult(messages=context.messages[4:])

    given = context()
    bare = Compactor(
        strategies=[Named("bare", Bare())], order=(), events=Bench().events, report=lambda text: pytest.fail(text)
    )
    step = await bare.step(given, set(), summaries=True)
    assert step is not None
    assert step.result == given.result(given.messages[4:])


def test_names_in_the_order_that_no_strategy_has_are_named_with_those_that_there_are() -> None:
    there = [Named("micro", Drops()), Named("keep_recent", Drops())]
    assert unknown_in(["keep_recent"], there) == ""
    told = unknown_in(["keep_recnt", "micro"], there)
    assert "'keep_recnt'" in told
    assert "keep_recent, micro" in told


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.5])
async def test_whether_it_is_shorter_does_not_hang_on_how_far_the_estimate_is_off(scale: float) -> None:
    it = compacting(shorter=Early(), longer=Drops(grows=True))
    assert await it.acted(context(scale=scale)) == ["shorter"]


async def test_who_calls_it_off_is_heard() -> None:
    it = compacting(it=Drops(raises=Aborted("user_cancel")))
    with pytest.raises(Aborted):
        await it.acted(context())


async def test_listeners_are_asked_before_a_summary_only_and_may_refuse_it() -> None:
    asked: list[str] = []

    def refuse(event: Any) -> BlockOutcome:
        asked.append(event.trigger)
        return BlockOutcome(block=True, reason="not now")

    it = compacting(listeners=[on.pre_compact(refuse)], first=Early(), sums=Sums())
    assert await it.acted(context("manual")) == ["first"]
    assert asked == ["manual"]
    assert "not now" in it.reports[0]


async def test_listeners_add_to_the_instructions_and_read_the_summary() -> None:
    read: list[str] = []

    def add(event: Any) -> BlockOutcome:
        return BlockOutcome(additional_context="and the colours")

    def told(event: Any) -> None:
        read.append(event.compact_summary)

    it = compacting(listeners=[on.pre_compact(add), on.post_compact(told)], sums=Sums())
    assert await it.acted(context(instructions="keep the names")) == ["sums"]
    assert read == ["Summed up: keep the names\nand the colours"]


async def test_one_that_does_not_end_is_passed_over_and_told_of() -> None:
    made = compacting(hangs=Hangs(), drops=Drops())
    assert await made.acted(context()) == ["drops"]
    assert [text for text in made.reports if "'hangs'" in text and "compaction.timeout" in text]


async def test_a_time_out_of_its_own_is_a_failure_like_any_other() -> None:
    made = compacting(fails=Drops(raises=TimeoutError("the index is slow")), drops=Drops())
    assert await made.acted(context()) == ["drops"]
    assert "TimeoutError('the index is slow')" in made.reports[0]
