"""Prompts that wait, and what begins a turn by itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from fake_session import fake_session, listen, of_type, result_of, run

from toolpost import (
    Message,
    Notice,
    Progress,
    PromptTaken,
    SessionError,
    SessionEvent,
    SessionStarted,
    Tool,
    ToolContext,
    ToolResult,
    ToolUse,
    UserMessage,
    on,
    text_of,
)
from toolpost.events.turn import UserPromptSubmit, UserPromptSubmitOutcome
from toolpost.testing import FakeModel
from toolpost_core.session.session import Session
from toolpost_core.transcripts.history import read


class Slow(Tool[dict[str, Any]]):
    """Runs until it is let go; `stops` says whether an interrupt ends it."""

    name = "slow"
    input_schema = {"type": "object"}

    def __init__(self, *, stops: bool = False) -> None:
        self.runs, self.go, self._stops = asyncio.Event(), asyncio.Event(), stops

    def description(self, input: dict[str, Any] | None = None) -> str:
        return "Waits."

    def interrupt_behavior(self) -> Literal["cancel", "block"]:
        return "cancel" if self._stops else "block"

    async def call(self, input: dict[str, Any], ctx: ToolContext, progress: Progress) -> ToolResult:
        self.runs.set()
        await self.go.wait()
        return ToolResult("waited")


CALL = ToolUse("t1", "slow", {})


@asynccontextmanager
async def while_it_runs(session: Session, tool: Slow) -> AsyncIterator[list[SessionEvent]]:
    """A prompt whose call runs within the context, and comes to its end after it."""
    events: list[SessionEvent] = []

    async def follow() -> None:
        events.extend(await run(session))

    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(follow())
        await tool.runs.wait()
        yield events
        tool.go.set()


async def go_on(session: Session) -> list[SessionEvent]:
    async with asyncio.timeout(20):
        await session.due()
        return [event async for event in session.go_on()]


def said(message: Message) -> str:
    return text_of(message)


def queue_records(session: Session) -> list[tuple[str, str]]:
    assert session.transcript_path is not None
    records = map(json.loads, session.transcript_path.read_text(encoding="utf-8").splitlines())
    return [(record["operation"], record["content"]) for record in records if record["type"] == "queue-operation"]


async def test_a_prompt_that_comes_while_a_call_runs_is_read_with_its_result(tmp_path: Path) -> None:
    tool, model = Slow(), FakeModel(CALL, "Done.")
    async with fake_session(tmp_path, model, tool) as session:
        async with while_it_runs(session, tool) as events:
            queued = session.enqueue("and hurry")
            assert [each.text for each in session.queued()] == ["and hurry"]
        assert session.queued() == ()
        prompts = [(prompt.text, prompt.id) for prompt in session.sent_prompts()]
        records = queue_records(session)
        path = session.transcript_path

    assert [block["type"] for block in model.requests[1].messages[-1]["content"]] == ["tool_result", "text"]  # type: ignore[index]
    assert said(model.requests[1].messages[-1]).endswith("and hurry")
    assert [event.prompt for event in of_type(events, PromptTaken)] == [queued]
    assert prompts[1] == ("and hurry", queued.id)
    assert records == [("enqueue", "and hurry"), ("dequeue", "and hurry")]
    assert path is not None
    assert read(path).messages == tuple(session.messages)


async def test_a_prompt_for_later_has_a_turn_of_its_own(tmp_path: Path) -> None:
    tool, model = Slow(), FakeModel(CALL, "Done.", "And that.")
    async with fake_session(tmp_path, model, tool) as session:
        async with while_it_runs(session, tool) as events:
            session.enqueue("then that", priority="later")
        more = await go_on(session)
        rest = [event async for event in session.go_on()]

    assert result_of(events).text == "Done."
    assert isinstance(more[0], PromptTaken)
    assert result_of(more).text == "And that."
    assert said(model.requests[2].messages[-1]) == "then that"
    assert rest == [], "nothing is due any more"


async def test_a_prompt_for_now_ends_calls_that_an_interrupt_ends_and_is_read_next(tmp_path: Path) -> None:
    tool, model = Slow(stops=True), FakeModel(CALL, "Instead.")
    async with fake_session(tmp_path, model, tool) as session:
        async with while_it_runs(session, tool) as events:
            session.enqueue("for later", priority="later")
            session.enqueue("stop that", priority="now")
        more = await go_on(session)
        assert [each.text for each in session.queued()] == ["for later"]

    assert result_of(events).terminal_reason == "aborted_tools"
    assert result_of(more).text == "Instead."
    assert said(model.requests[1].messages[-1]).endswith("stop that")


async def test_a_prompt_for_now_waits_for_a_call_that_no_interrupt_ends(tmp_path: Path) -> None:
    tool, model = Slow(stops=False), FakeModel(CALL, "Instead.")
    async with fake_session(tmp_path, model, tool) as session:
        async with while_it_runs(session, tool) as events:
            session.enqueue("stop that", priority="now")
        await go_on(session)

    assert result_of(events).terminal_reason == "aborted_tools"
    assert "waited" in str(model.requests[1].messages)


async def test_what_was_taken_back_is_not_read(tmp_path: Path) -> None:
    tool, model = Slow(), FakeModel(CALL, "Done.")
    async with fake_session(tmp_path, model, tool) as session:
        async with while_it_runs(session, tool):
            queued = session.enqueue("never mind")
            assert session.withdraw(queued.id) == queued
            assert session.withdraw(queued.id) is None
        records = queue_records(session)

    assert "never mind" not in str(model.requests[1].messages)
    assert records == [("enqueue", "never mind"), ("remove", "never mind")]


async def test_listeners_of_prompts_are_asked_about_one_that_comes_in_between(tmp_path: Path) -> None:
    def judge(event: UserPromptSubmit) -> UserPromptSubmitOutcome | None:
        if event.prompt == "bad":
            return UserPromptSubmitOutcome(block=True, reason="not that")
        return UserPromptSubmitOutcome(additional_context=f"about {event.prompt}")

    tool, model = Slow(), FakeModel(CALL, "Done.")
    async with (
        fake_session(tmp_path, model, tool, listen(on.user_prompt_submit, judge)) as session,
        while_it_runs(session, tool) as events,
    ):
        session.enqueue("bad")
        session.enqueue("good")

    read_by_model = said(model.requests[1].messages[-1])
    assert read_by_model.endswith("about good\ngood")
    assert "bad" not in read_by_model
    assert "not that\n\nThe prompt was: bad" in [notice.text for notice in of_type(events, Notice)]


async def test_an_interrupt_between_two_prompts_keeps_the_first_and_says_that_the_second_was_not_sent(
    tmp_path: Path,
) -> None:
    asked = asyncio.Event()

    async def judge(event: UserPromptSubmit) -> None:
        if event.prompt == "second":
            asked.set()
            await asyncio.Event().wait()

    tool, model = Slow(), FakeModel(CALL, "Yes?")
    async with fake_session(tmp_path, model, tool, listen(on.user_prompt_submit, judge)) as session:
        async with while_it_runs(session, tool) as events:
            session.enqueue("first")
            session.enqueue("second")
            tool.go.set()
            await asked.wait()
            session.interrupt()
        session.enqueue("well?")
        await go_on(session)
        path = session.transcript_path

    assert result_of(events).terminal_reason == "aborted_tools"
    told = [notice.text for notice in of_type(events, Notice)]
    assert "The prompt was not sent, as the turn was interrupted: second" in told
    assert "first" in said(model.requests[1].messages[-1])
    assert "second" not in str(model.requests[1].messages)
    assert path is not None
    assert read(path).messages == tuple(session.messages)


async def test_the_end_of_background_work_wakes_a_session_that_waits_for_its_person(tmp_path: Path) -> None:
    model = FakeModel("Started.", "I see.")

    async def yes(question: Any) -> Any:
        raise AssertionError("nobody is asked")

    async with fake_session(tmp_path, model, ask=yes) as session:
        await run(session)
        waiting = asyncio.create_task(go_on(session))
        await asyncio.sleep(0)
        session.queue.put("the tests passed", shown=Notice("The tests ended"), kind="task")
        events = await waiting
        prompts = [prompt.text for prompt in session.sent_prompts()]
        path = session.transcript_path

    assert [type(event) for event in events[:3]] == [SessionStarted, Notice, UserMessage]
    assert [event.synthetic for event in of_type(events, UserMessage)] == [True]
    assert result_of(events).text == "I see."
    assert said(model.requests[1].messages[-1]) == "the tests passed"
    assert prompts == ["go"], "nobody said that"
    assert path is not None
    assert read(path).messages == tuple(session.messages)


async def test_news_go_with_the_prompt_that_begins_the_next_turn(tmp_path: Path) -> None:
    model = FakeModel("Both.")
    async with fake_session(tmp_path, model) as session:
        session.queue.put("the tests passed", kind="task")
        session.enqueue("and now?")
        await go_on(session)

    assert said(model.requests[0].messages[-1]).endswith("the tests passed\nand now?")


async def test_what_waited_when_the_person_interrupted_begins_no_turn(tmp_path: Path) -> None:
    tool, model = Slow(stops=True), FakeModel(CALL, "Yes?")
    async with fake_session(tmp_path, model, tool) as session:
        async with while_it_runs(session, tool):
            session.queue.put("the tests passed", kind="task")
            session.interrupt()
        waiting = asyncio.create_task(session.due())
        await asyncio.sleep(0)
        assert not waiting.done()
        session.enqueue("well?")
        await waiting
        await go_on(session)

    assert said(model.requests[1].messages[-1]).endswith("the tests passed\nwell?")


async def test_a_new_conversation_begins_without_what_waited(tmp_path: Path) -> None:
    tool, model = Slow(stops=True), FakeModel(CALL, "Hello.")
    async with fake_session(tmp_path, model, tool) as session:
        async with while_it_runs(session, tool):
            session.queue.put("the tests passed", kind="task")
            session.interrupt()
        records = queue_records(session)
        before = session.transcript_path
        await session.clear()
        assert before is not None
        ended = before.read_text(encoding="utf-8")
        await run(session, "hi")

    assert records == [("enqueue", "the tests passed")]
    assert ended.count('"operation":"remove"') == 1, "the old conversation says that nobody read it"
    assert said(model.requests[1].messages[-1]) == "hi"


async def test_an_id_that_is_known_is_refused(tmp_path: Path) -> None:
    async with fake_session(tmp_path, FakeModel("One.")) as session:
        session.enqueue("one", message_id="11111111-0000-4000-8000-000000000000")
        with pytest.raises(SessionError, match="give a new uuid"):
            session.enqueue("again", message_id="11111111-0000-4000-8000-000000000000")
        await go_on(session)
        with pytest.raises(SessionError, match="give a new uuid"):
            session.enqueue("again", message_id="11111111-0000-4000-8000-000000000000")
