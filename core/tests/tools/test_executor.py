from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolpost import ToolUse
from toolpost_core.tools.batch import partition, run_batch
from toolpost_core.tools.calls import CallResult
from toolpost_core.tools.executor import StreamingExecutor, concurrency

Plan = Sequence[bool]
"""Whether each call of an answer is safe."""


def calls_of(plan: Plan) -> list[ToolUse]:
    return [ToolUse(f"t{n}", "safe" if safe else "unsafe", {"n": n}) for n, safe in enumerate(plan)]


def is_safe(call: ToolUse) -> bool:
    return call.name == "safe"


def result_for(call: ToolUse) -> CallResult:
    return CallResult(call, {"type": "tool_result", "tool_use_id": call.id, "content": call.id})


@dataclass
class World:
    """Runs calls one step at a time: a running call ends when the schedule picks it."""

    limit: int
    running: dict[int, asyncio.Event] = field(default_factory=dict)
    log: list[tuple[str, int]] = field(default_factory=list)
    most: int = 0

    async def run(self, call: ToolUse) -> CallResult:
        number = call.input["n"]
        others = {n: self.name(n) for n in self.running}
        assert call.name == "safe" or not others, f"{number} is unsafe and starts beside {others}"
        assert "unsafe" not in others.values(), f"{number} starts beside an unsafe call"
        self.log.append(("start", number))
        self.running[number] = asyncio.Event()
        self.most = max(self.most, len(self.running))
        assert self.most <= self.limit
        await self.running[number].wait()
        del self.running[number]
        self.log.append(("end", number))
        return result_for(call)

    def apply(self, result: CallResult) -> None:
        self.log.append(("apply", result.call.input["n"]))

    def name(self, number: int) -> str:
        return self.plan[number]

    plan: list[str] = field(default_factory=list)


async def settled() -> None:
    """Let everything run that can."""
    for _ in range(12):
        await asyncio.sleep(0)


async def play(plan: Plan, limit: int, seed: int) -> tuple[World, list[str]]:
    """Add calls and end running ones in a random order until all are done."""
    chance, calls = random.Random(seed), calls_of(plan)
    world = World(limit, plan=[call.name for call in calls])
    waiting = list(calls)
    async with asyncio.TaskGroup() as group:
        executor = StreamingExecutor(world.run, is_safe, world.apply, group, limit)
        while waiting or world.running:
            if waiting and (not world.running or chance.random() < 0.5):
                executor.add(waiting.pop(0))
            else:
                world.running[chance.choice(sorted(world.running))].set()
            await settled()
        order = [result.call.id async for result in executor.results()]
    return world, order


plans = st.lists(st.booleans(), max_size=9)


@pytest.mark.requirement("executor.unsafe_call_alone")
@pytest.mark.requirement("executor.results_in_order")
@pytest.mark.requirement("executor.modifiers_after_the_batch")
@pytest.mark.requirement("executor.limit")
@settings(max_examples=400, deadline=None)
@given(plans, st.integers(1, 4), st.integers())
def test_whatever_the_schedule_calls_start_and_end_and_change_the_context_in_their_order(
    plan: list[bool], limit: int, seed: int
) -> None:
    world, order = asyncio.run(play(plan, limit, seed))  # World.run checks who runs beside whom

    assert order == [f"t{n}" for n in range(len(plan))]
    assert [n for what, n in world.log if what == "apply"] == list(range(len(plan)))
    place = {entry: index for index, entry in enumerate(world.log)}
    for n, safe in enumerate(plan):
        for earlier in range(n):
            if not (safe and plan[earlier]):
                assert place["end", earlier] < place["start", n], "a call overtook an unsafe one"
        if not safe:
            assert all(place["apply", e] < place["start", n] for e in range(n)), "it began with an old context"
            assert place["apply", n] == place["end", n] + 1, "what a serial call changes counts at once"
            assert all(place["apply", n] < place["start", later] for later in range(n + 1, len(plan)))


@pytest.mark.requirement("executor.safe_calls_together")
@pytest.mark.parametrize("number", [1, 10])
async def test_safe_calls_run_together_up_to_the_limit(number: int) -> None:
    world = World(10, plan=["safe"] * number)
    async with asyncio.TaskGroup() as group:
        executor = StreamingExecutor(world.run, is_safe, world.apply, group, 10)
        for call in calls_of([True] * number):
            executor.add(call)
        await settled()
        assert len(world.running) == number
        for event in list(world.running.values()):
            event.set()


@pytest.mark.requirement("executor.limit")
async def test_by_default_ten_run_at_once_and_the_eleventh_waits() -> None:
    world = World(10, plan=["safe"] * 11)
    async with asyncio.TaskGroup() as group:
        executor = StreamingExecutor(world.run, is_safe, world.apply, group)
        for call in calls_of([True] * 11):
            executor.add(call)
        await settled()
        assert sorted(world.running) == list(range(10))
        world.running[3].set()
        await settled()
        assert 10 in world.running
        for event in list(world.running.values()):
            event.set()


@pytest.mark.requirement("executor.limit")
@pytest.mark.parametrize(("value", "number"), [("3", 3), ("0", 1), ("-2", 1), ("many", 10), ("", 10)])
def test_the_environment_sets_how_many_run_at_once(monkeypatch: pytest.MonkeyPatch, value: str, number: int) -> None:
    monkeypatch.setenv("TOOLPOST_MAX_TOOL_USE_CONCURRENCY", value)

    assert concurrency() == number


@pytest.mark.requirement("executor.batches")
@given(plans)
def test_batches_are_runs_of_safe_calls_and_single_unsafe_ones(plan: list[bool]) -> None:
    batches = list(partition(calls_of(plan), is_safe))

    assert [call.input["n"] for _, batch in batches for call in batch] == list(range(len(plan)))
    assert all(safe or len(batch) == 1 for safe, batch in batches)
    assert all(is_safe(call) == safe for safe, batch in batches for call in batch)
    assert not any(one[0] and two[0] for one, two in itertools.pairwise(batches))


@settings(max_examples=60, deadline=None)
@given(plans, st.integers())
def test_the_batch_executor_hands_back_and_applies_in_the_order_of_the_calls(plan: list[bool], seed: int) -> None:
    chance = random.Random(seed)
    applied: list[str] = []

    async def call_it(call: ToolUse) -> CallResult:
        for _ in range(chance.randrange(5)):
            await asyncio.sleep(0)
        return result_for(call)

    apply: Callable[[CallResult], None] = lambda result: applied.append(result.call.id)  # noqa: E731
    results = asyncio.run(run_batch(calls_of(plan), call_it, is_safe, apply))

    assert [result.call.id for result in results] == applied == [f"t{n}" for n in range(len(plan))]
