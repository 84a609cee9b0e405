from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from listener_bench import Bench

from toolpost import on
from toolpost.events._base import BlockOutcome, Outcome
from toolpost.events.permission import PermissionAsked, PermissionRequestOutcome
from toolpost.events.session import CwdChanged
from toolpost.events.tool import PostToolUse, PostToolUseOutcome, PreToolUse, PreToolUseOutcome
from toolpost.events.turn import Notification, StopEvent, UserPromptSubmit

CALL = PreToolUse(tool_name="Bash", tool_input={"command": "ls"})


async def test_without_listeners_nothing_happens(bench: Bench) -> None:
    emission = await bench.events.emit(on.pre_tool_use, CALL)

    assert (emission.outcome, emission.answers, emission.failure) == (None, (), None)
    assert not bench.events.hears("pre_tool_use")


async def test_sync_and_async_listeners_hear_the_event_and_where_it_comes_from(bench: Bench) -> None:
    heard: list[tuple[str, str, bool]] = []
    loop_thread = threading.get_ident()

    @on.notification
    async def later(event: Notification) -> None:
        heard.append(("async", event.origin.session_id, threading.get_ident() == loop_thread))

    @on.notification
    def now(event: Notification) -> None:
        heard.append(("sync", event.origin.session_id, threading.get_ident() == loop_thread))

    bench.add("a", later)
    bench.add("b", now)
    await bench.events.emit(on.notification, Notification(message="look"))

    assert bench.events.hears("notification")
    assert sorted(heard) == [("async", "s1", True), ("sync", "s1", False)]


async def test_a_callable_that_returns_an_awaitable_is_awaited(bench: Bench) -> None:
    async def answer(extra: str, event: StopEvent) -> BlockOutcome:
        return BlockOutcome(block=True, reason=extra)

    @on.stop
    def listener(event: StopEvent) -> Any:
        return partial(answer, "go on")(event)

    bench.add("a", listener)

    assert (await bench.events.emit(on.stop, StopEvent())).outcome == BlockOutcome(block=True, reason="go on")


@pytest.mark.requirement("events.rewrites_chain")
async def test_rewriting_listeners_run_one_after_another_each_with_the_last_ones_input(bench: Bench) -> None:
    def appends(letter: str) -> Callable[..., Any]:
        async def listener(event: PreToolUse) -> PreToolUseOutcome:
            return PreToolUseOutcome(updated_input={"command": event.tool_input["command"] + letter})

        return on.pre_tool_use(listener)

    for letter in "abc":
        bench.add(letter, appends(letter))
    outcome = (await bench.events.emit(on.pre_tool_use, CALL)).outcome

    assert outcome is not None
    assert outcome.updated_input == {"command": "lsabc"}


async def test_listeners_that_rewrite_nothing_run_together(bench: Bench) -> None:
    both = asyncio.Barrier(2)

    async def meets(event: CwdChanged) -> None:
        await both.wait()

    bench.add("a", on.cwd_changed(meets))
    bench.add("b", on.cwd_changed(partial_of(meets)))
    async with asyncio.timeout(10):
        await bench.events.emit(on.cwd_changed, CwdChanged(old_cwd=Path("/a"), new_cwd=Path("/b")))

    assert bench.told == []


def partial_of(function: Callable[..., Any]) -> Callable[..., Any]:
    async def other(event: Any) -> Any:
        return await function(event)

    return other


async def test_each_of_those_that_run_together_stays_in_one_task_and_holds_nobody_up(bench: Bench) -> None:
    others = asyncio.Event()
    ended: list[str] = []

    def waits(name: str) -> Any:
        @on.stop
        async def listener(event: StopEvent) -> None:
            task = asyncio.current_task()
            async with asyncio.timeout(5), asyncio.TaskGroup():
                await others.wait()
            assert asyncio.current_task() is task
            ended.append(name)

        return listener

    @on.stop
    async def quick(event: StopEvent) -> None:
        ended.append("quick")

    @on.stop
    def beside(event: StopEvent) -> None:
        ended.append("beside")

    @on.stop
    async def last(event: StopEvent) -> None:
        await asyncio.sleep(0)
        others.set()

    for number, listener in enumerate((quick, waits("first"), beside, waits("second"), last)):
        bench.add(f"p{number}", listener)
    emission = await bench.events.emit(on.stop, StopEvent())

    assert [answer.plugin for answer in emission.answers] == [f"p{number}" for number in range(5)]
    assert [answer.error for answer in emission.answers] == [None] * 5
    assert ended[0] == "quick"
    assert sorted(ended) == ["beside", "first", "quick", "second"]


async def test_answers_merge_in_the_order_of_registration_whoever_is_first_done(bench: Bench) -> None:
    second_done = asyncio.Event()

    @on.stop
    async def first(event: StopEvent) -> BlockOutcome:
        await second_done.wait()
        return BlockOutcome(additional_context="one")

    @on.stop
    async def second(event: StopEvent) -> BlockOutcome:
        second_done.set()
        return BlockOutcome(additional_context="two", block=True, reason="not yet")

    bench.add("a", first)
    bench.add("b", second)
    emission = await bench.events.emit(on.stop, StopEvent())

    assert emission.outcome == BlockOutcome(additional_context="one\ntwo", block=True, reason="not yet")
    assert [answer.plugin for answer in emission.answers] == ["a", "b"]


@pytest.mark.requirement("events.strictest_wins")
@pytest.mark.parametrize(
    ("said", "strictest"),
    [(["allow", "ask"], "ask"), (["deny", "allow"], "deny"), (["defer", "ask"], "defer"), (["ask", "deny"], "deny")],
)
async def test_of_several_decisions_the_strictest_counts_with_its_reason(
    bench: Bench, said: list[Any], strictest: str
) -> None:
    def says(decision: Any) -> Callable[..., Any]:
        return on.pre_tool_use(lambda event: PreToolUseOutcome(decision=decision, reason=f"because {decision}"))

    for decision in said:
        bench.add(decision, says(decision))
    outcome = (await bench.events.emit(on.pre_tool_use, CALL)).outcome

    assert outcome is not None
    assert (outcome.decision, outcome.reason) == (strictest, f"because {strictest}")


FAILURES = [ValueError("broken"), SystemExit(3), StopIteration(), asyncio.CancelledError(), TimeoutError("mine")]


@pytest.mark.requirement("events.isolated")
@pytest.mark.requirement("events.decide_fails_closed")
@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
async def test_a_failing_decide_listener_blocks_is_named_and_keeps_no_other_from_answering(
    bench: Bench, failure: BaseException, is_async: bool
) -> None:
    def sync(event: PreToolUse) -> None:
        raise failure

    async def with_await(event: PreToolUse) -> None:
        raise failure

    bench.add("acme-guard", on.pre_tool_use(with_await if is_async else sync))
    bench.add("other", on.pre_tool_use(lambda event: PreToolUseOutcome(decision="allow")))
    emission = await bench.events.emit(on.pre_tool_use, CALL)

    assert emission.failure is not None
    assert "PreToolUse hook of 'acme-guard' failed" in emission.failure
    assert emission.outcome == PreToolUseOutcome(decision="allow")
    assert ["acme-guard" in told for told in bench.told] == [True]
    assert [answer.timed_out for answer in emission.answers] == [False, False]


@pytest.mark.requirement("events.isolated")
@pytest.mark.requirement("events.observe_fails_open")
@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
async def test_a_failing_observe_listener_is_reported_and_passed_over(bench: Bench, failure: BaseException) -> None:
    async def fails(event: StopEvent) -> None:
        raise failure

    bench.add("acme", on.stop(fails))
    bench.add("other", on.stop(lambda event: BlockOutcome(block=True, reason="more")))
    emission = await bench.events.emit(on.stop, StopEvent())

    assert (emission.failure, emission.outcome) == (None, BlockOutcome(block=True, reason="more"))
    assert len(bench.told) == 1


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.requirement("events.decide_fails_closed")
async def test_a_listener_that_hangs_is_left_behind_after_its_time_and_told_apart_from_one_that_fails(
    bench: Bench, is_async: bool
) -> None:
    release = threading.Event()

    async def hangs(event: UserPromptSubmit) -> None:
        await asyncio.Event().wait()

    def blocks(event: UserPromptSubmit) -> None:
        release.wait(30)

    bench.add("slow", on.user_prompt_submit.listener(timeout=0.02)(hangs if is_async else blocks))
    emission = await bench.events.emit(on.user_prompt_submit, UserPromptSubmit(prompt="hi"))
    release.set()

    assert emission.answers[0].timed_out
    assert emission.failure == "the UserPromptSubmit hook of 'slow' timed out after 0.02 s"


@pytest.mark.requirement("events.decide_fails_closed")
async def test_a_listener_may_choose_that_its_failure_does_not_block(bench: Bench) -> None:
    def failing() -> Callable[[PreToolUse], None]:
        def fails(event: PreToolUse) -> None:
            raise ValueError("broken")

        return fails

    bench.add("lenient", on.pre_tool_use.listener(on_failure="continue")(failing()))
    assert (await bench.events.emit(on.pre_tool_use, CALL)).failure is None

    bench.add("strict", on.pre_tool_use.listener(on_failure="block")(failing()))
    assert "strict" in str((await bench.events.emit(on.pre_tool_use, CALL)).failure)


@pytest.mark.requirement("events.isolated")
@pytest.mark.parametrize("answer", [{"decision": "deny"}, "deny", Outcome(), BlockOutcome(block=True), True])
async def test_an_answer_of_another_kind_than_the_events_is_a_failure_of_the_listener(
    bench: Bench, answer: object
) -> None:
    bench.add("acme", on.pre_tool_use(lambda event: answer))  # type: ignore[arg-type, return-value]
    bench.add("other", on.pre_tool_use(lambda event: PreToolUseOutcome(decision="allow")))
    emission = await bench.events.emit(on.pre_tool_use, CALL)

    assert "acme" in str(emission.failure)
    assert "PreToolUseOutcome" in str(emission.failure)
    assert emission.outcome == PreToolUseOutcome(decision="allow")


async def test_a_word_that_an_answer_does_not_know_is_a_failure_of_the_listener(bench: Bench) -> None:
    bench.add("acme", on.pre_tool_use(lambda event: PreToolUseOutcome(decision="block")))  # type: ignore[arg-type, return-value]
    emission = await bench.events.emit(on.pre_tool_use, CALL)

    assert "'acme'" in str(emission.failure)
    assert "'allow', 'ask', 'defer', 'deny'" in str(emission.failure)


async def test_a_plain_outcome_is_enough_where_the_event_asks_for_no_more(bench: Bench) -> None:
    bench.add("acme", on.notification(lambda event: Outcome(additional_context="seen")))

    assert (await bench.events.emit(on.notification, Notification(message="m"))).failure is None


async def test_what_a_listener_wants_the_person_to_see_is_reported(bench: Bench) -> None:
    bench.add("acme", on.post_tool_use(lambda event: PostToolUseOutcome(system_message="the budget is low")))
    await bench.events.emit(on.post_tool_use, PostToolUse(tool_name="Bash"))

    assert bench.told == ["the budget is low"]


async def test_an_answer_that_would_flood_the_conversation_is_cut_and_says_so(bench: Bench) -> None:
    bench.add("acme", on.post_tool_use(lambda event: PostToolUseOutcome(additional_context="x" * 5_000_000)))
    emission = await bench.events.emit(on.post_tool_use, PostToolUse(tool_name="Bash"))

    assert emission.outcome is not None
    assert len(emission.outcome.additional_context) < 101_000
    assert emission.outcome.additional_context.endswith("this was 5,000,000]")


async def test_the_time_of_each_listener_is_kept(bench: Bench) -> None:
    bench.add("a", on.notification(lambda event: None))
    answers = (await bench.events.emit(on.notification, Notification(message="m"))).answers

    assert answers[0].duration > 0


async def test_a_deny_of_one_permission_listener_beats_the_allow_of_another(bench: Bench) -> None:
    bench.add("a", on.permission_request(lambda event: PermissionRequestOutcome(decision="allow")))
    bench.add("b", on.permission_request(lambda event: PermissionRequestOutcome(decision="deny")))
    outcome = (await bench.events.emit(on.permission_request, PermissionAsked(tool_name="Bash"))).outcome

    assert outcome is not None
    assert outcome.decision == "deny"


async def test_cancelling_the_emission_ends_its_listeners(bench: Bench) -> None:
    ended = asyncio.Event()
    began = asyncio.Event()

    @on.pre_tool_use
    async def waits(event: PreToolUse) -> None:
        try:
            began.set()
            await asyncio.Event().wait()
        finally:
            ended.set()

    bench.add("a", waits)
    emitting = asyncio.ensure_future(bench.events.emit(on.pre_tool_use, CALL))
    await began.wait()
    emitting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await emitting
    assert ended.is_set()


def test_a_listener_that_is_still_running_when_the_loop_closed_leaves_no_trace(bench: Bench) -> None:
    release, done = threading.Event(), threading.Event()

    def blocks(event: Notification) -> None:
        release.wait(30)
        done.set()

    bench.add("slow", on.notification.listener(timeout=0.01)(blocks))
    asyncio.run(bench.events.emit(on.notification, Notification(message="m")))
    release.set()

    assert done.wait(30)
