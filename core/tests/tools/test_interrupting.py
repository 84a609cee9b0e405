"""What an abort does to calls: those that wait, ask and run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fake_session import fake_session, listen, of_type, result_of, run, texts

from toolpost import AbortReason, Progress, Reply, Tool, ToolContext, ToolFailed, ToolFinished, ToolResult, ToolUse, on
from toolpost.testing import FakeModel
from toolpost_core.session.session import Session
from toolpost_core.tools import watched

Act = Callable[[ToolContext, str], Awaitable[Any]]


@dataclass(frozen=True)
class Named:
    what: str = ""


class Acts(Tool[Named]):
    """Does what a test gives it, and lets its fellows go when it fails."""

    name = "Acts"
    input_model = Named
    aborts_siblings = True
    act: Act
    safe: bool = True
    behavior: Any = "cancel"

    def is_concurrency_safe(self, input: Named) -> bool:
        return self.safe

    def interrupt_behavior(self) -> Any:
        return self.behavior

    async def call(self, input: Named, ctx: ToolContext, progress: Progress) -> ToolResult:
        return ToolResult(await self.act(ctx, input.what))


class Other(Acts):
    """The same, under another name."""

    name = "Other"


def calls(*names: str, tool: str = "Acts") -> list[Any]:
    return [ToolUse(f"t_{name}", tool, {"what": name}) for name in names]


async def interrupted(session: Session, when: asyncio.Event, *reasons: AbortReason) -> list[Any]:
    """Run a prompt and abort it as soon as the event is set."""
    events: list[Any] = []

    async def follow() -> None:
        events.extend([event async for event in session.submit("go")])

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(follow())
        await when.wait()
        for reason in reasons or ("user_cancel",):
            session.interrupt(reason)
            await asyncio.sleep(0)
    return events


async def test_a_tool_that_does_not_listen_is_cancelled(tmp_path: Path) -> None:
    running, cleaned = asyncio.Event(), asyncio.Event()

    async def act(ctx: ToolContext, what: str) -> str:
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.set()
        return "never"

    async with fake_session(tmp_path, FakeModel(calls("a"), "Next."), Acts(act=act)) as session:
        events = await interrupted(session, running)
        assert cleaned.is_set()
        assert result_of(events).terminal_reason == "aborted_tools"
        assert "user interrupted" in texts(events)["t_a"]
        assert result_of(await run(session)).text == "Next."


async def test_what_a_tool_that_listens_has_so_far_is_kept(tmp_path: Path) -> None:
    running = asyncio.Event()

    async def act(ctx: ToolContext, what: str) -> str:
        running.set()
        await ctx.abort.wait()
        return "half of it"

    async with fake_session(tmp_path, FakeModel(calls("a")), Acts(act=act)) as session:
        events = await interrupted(session, running)

    assert texts(events)["t_a"] == "half of it"


async def test_what_a_cancelled_tool_returns_is_kept(tmp_path: Path) -> None:
    running = asyncio.Event()

    async def act(ctx: ToolContext, what: str) -> str:
        running.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "half of it"
        return "never"

    async with fake_session(tmp_path, FakeModel(calls("a")), Acts(act=act)) as session:
        events = await interrupted(session, running)

    assert texts(events)["t_a"] == "half of it"


async def test_a_tool_that_takes_no_notice_of_being_cancelled_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched, "LAST_GRACE", 0.05)
    running, release = asyncio.Event(), asyncio.Event()

    async def act(ctx: ToolContext, what: str) -> str:
        running.set()
        while not release.is_set():
            with suppress(asyncio.CancelledError):
                await release.wait()
        return "much too late"

    async with fake_session(tmp_path, FakeModel(calls("a"), "Next."), Acts(act=act)) as session:
        events = await interrupted(session, running)
        assert "user interrupted" in texts(events)["t_a"]
        assert result_of(await run(session)).text == "Next."
        release.set()


@pytest.mark.requirement("abort.interrupt_spares_blocking_tools")
async def test_an_interrupt_ends_tools_that_can_be_cancelled_and_waits_for_those_that_block(tmp_path: Path) -> None:
    running, both = asyncio.Event(), asyncio.Barrier(2)
    finish = asyncio.Event()
    heard: list[bool] = []

    async def quick(ctx: ToolContext, what: str) -> str:
        await both.wait()
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            finish.set()
        return "never"

    async def slow(ctx: ToolContext, what: str) -> str:
        await both.wait()
        await finish.wait()
        heard.append(ctx.abort.aborted)
        return "written"

    model = FakeModel([*calls("q"), *calls("s", tool="Other")])
    async with fake_session(tmp_path, model, Acts(act=quick), Other(act=slow, behavior="block")) as session:
        events = await interrupted(session, running, "interrupt")

    assert texts(events)["t_s"] == "written"
    assert heard == [False], "a tool that blocks is not told of the interrupt"
    assert "new message" in texts(events)["t_q"]


@pytest.mark.requirement("abort.interrupt_spares_blocking_tools")
async def test_a_cancellation_after_an_interrupt_ends_a_tool_that_blocks(tmp_path: Path) -> None:
    running = asyncio.Event()

    async def act(ctx: ToolContext, what: str) -> str:
        running.set()
        await asyncio.Event().wait()
        return "never"

    async with fake_session(tmp_path, FakeModel(calls("a")), Acts(act=act, behavior="block")) as session:
        events = await interrupted(session, running, "interrupt", "user_cancel")

    assert result_of(events).terminal_reason == "aborted_tools"
    assert "user interrupted" in texts(events)["t_a"]


@pytest.mark.requirement("pipeline.aborted_before")
async def test_calls_that_wait_for_their_turn_do_not_start_after_an_abort(tmp_path: Path) -> None:
    running = asyncio.Event()
    started: list[str] = []

    async def act(ctx: ToolContext, what: str) -> str:
        started.append(what)
        running.set()
        await ctx.abort.wait()
        return what

    model = FakeModel(calls("a", "b", "c"), "Next.")
    async with fake_session(tmp_path, model, Acts(act=act, safe=False)) as session:
        events = await interrupted(session, running)
        await run(session)

    assert started == ["a"]
    assert sorted(texts(events)) == ["t_a", "t_b", "t_c"]
    answered = model.requests[1].messages[2]["content"]
    assert [block.get("tool_use_id") for block in answered[:3]] == ["t_a", "t_b", "t_c"]  # type: ignore[union-attr]


async def test_an_abort_while_a_person_is_asked_takes_the_question_back(tmp_path: Path) -> None:
    asking, withdrawn = asyncio.Event(), asyncio.Event()

    async def ask(question: Any) -> Reply:
        asking.set()
        try:
            await asyncio.Event().wait()
        finally:
            withdrawn.set()
        return Reply(allow=True)

    async def act(ctx: ToolContext, what: str) -> str:
        raise AssertionError("it must not run")

    async with fake_session(tmp_path, FakeModel(calls("a")), Acts(act=act), ask=ask, allow=False) as session:
        events = await interrupted(session, asking)

    assert withdrawn.is_set()
    assert result_of(events).terminal_reason == "aborted_tools"


@pytest.mark.requirement("pipeline.aborted_before")
async def test_an_abort_while_a_hook_thinks_ends_the_turn_and_the_call_does_not_run(tmp_path: Path) -> None:
    thinking = asyncio.Event()

    async def thinks(event: Any) -> None:
        thinking.set()
        await asyncio.Event().wait()

    async def act(ctx: ToolContext, what: str) -> str:
        raise AssertionError("it must not run")

    model = FakeModel(calls("a"))
    async with fake_session(tmp_path, model, Acts(act=act), listen(on.pre_tool_use, thinks)) as session:
        events = await interrupted(session, thinking)

    assert "user interrupted" in texts(events)["t_a"]


@pytest.mark.requirement("executor.failing_bash_aborts_siblings")
@pytest.mark.parametrize("safe", [True, False], ids=["beside", "behind"])
async def test_a_failing_call_calls_off_its_fellows_that_run_or_wait_and_nobody_else(
    tmp_path: Path, safe: bool
) -> None:
    started = asyncio.Barrier(3 if safe else 1)

    async def act(ctx: ToolContext, what: str) -> str:
        if what == "fails":
            if safe:
                await started.wait()
            raise ToolFailed("exit code 1")
        if safe:
            await started.wait()
        await (ctx.abort.wait() if what == "fellow" else asyncio.sleep(0))
        ctx.abort.raise_if_aborted()
        return what

    async def other(ctx: ToolContext, what: str) -> str:
        if safe:
            await started.wait()
        return what

    model = FakeModel([*calls("fails", "fellow"), *calls("stranger", tool="Other")], "Done.")
    async with (
        asyncio.timeout(20),
        fake_session(tmp_path, model, Acts(act=act, safe=safe), Other(act=other, safe=safe)) as session,
    ):
        events = await run(session)

    assert "exit code 1" in texts(events)["t_fails"]
    assert "another call of the same answer failed" in texts(events)["t_fellow"]
    assert texts(events)["t_stranger"] == "stranger"
    assert result_of(events).terminal_reason == "completed"


async def test_a_call_that_was_refused_calls_off_nobody(tmp_path: Path) -> None:
    async def act(ctx: ToolContext, what: str) -> str:
        return what

    model = FakeModel([ToolUse("t_bad", "Acts", {"wat": 1}), *calls("good")], "Done.")
    async with fake_session(tmp_path, model, Acts(act=act)) as session:
        events = await run(session)

    assert texts(events)["t_good"] == "good"


async def test_closing_the_events_of_a_turn_ends_its_tools_and_says_nothing_of_the_user(tmp_path: Path) -> None:
    ended = asyncio.Event()

    async def act(ctx: ToolContext, what: str) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return "never"

    model = FakeModel(calls("a"), "Next.")
    async with asyncio.timeout(20), fake_session(tmp_path, model, Acts(act=act)) as session:
        turn = session.submit("go")
        async for event in turn:
            if type(event).__name__ == "ToolStarted":
                break
        await turn.aclose()
        assert ended.is_set()
        await run(session)

    said = str(model.requests[1].messages)
    assert "The session ended before this call did" in said
    assert "user interrupted" not in said.lower()
    assert "user refused" not in said.lower()


async def test_finished_calls_are_told_apart_from_interrupted_ones(tmp_path: Path) -> None:
    running = asyncio.Event()

    async def act(ctx: ToolContext, what: str) -> str:
        if what == "quick":
            return "done"
        running.set()
        await asyncio.Event().wait()
        return "never"

    async with fake_session(tmp_path, FakeModel(calls("quick", "slow")), Acts(act=act)) as session:
        events = await interrupted(session, running)

    assert {e.tool_use_id: e.is_error for e in of_type(events, ToolFinished)} == {"t_quick": False, "t_slow": True}
