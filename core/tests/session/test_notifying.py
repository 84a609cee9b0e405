"""When a person is told to look."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from fake_session import fake_session, listen, run

from toolpost import Notification, Outcome, Question, Reply, on
from toolpost.testing import FakeModel
from toolpost_core.session import notifying


async def yes(question: Question) -> Reply:
    del question
    return Reply(allow=True)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifying, "IDLE_AFTER", 0.01)


@pytest.mark.usefixtures("at_once")
async def test_a_session_that_waits_for_its_person_says_so_and_its_hooks_may_answer_the_model(tmp_path: Path) -> None:
    told: asyncio.Queue[Notification] = asyncio.Queue()

    def hears(event: Notification) -> Outcome:
        told.put_nowait(event)
        return Outcome(additional_context="the person is away")

    model = FakeModel("One.", "Two.")
    async with fake_session(tmp_path, model, listen(on.notification, hears), ask=yes) as session, asyncio.timeout(10):
        await run(session)
        event = await told.get()
        while not session.queue._entries:  # noqa: ASYNC110 - the listener's answer comes after what it hears
            await asyncio.sleep(0.005)
        await run(session)

    assert (event.notification_type, event.message) == ("idle_prompt", "Toolpost is waiting for your input")
    assert "the person is away" in str(model.requests[1].messages)


@pytest.mark.usefixtures("at_once")
async def test_nobody_is_waited_for_where_there_is_no_person(tmp_path: Path) -> None:
    told: list[Notification] = []
    async with fake_session(
        tmp_path, FakeModel("One."), listen(on.notification, lambda event: told.append(event))
    ) as session:
        await run(session)
        await asyncio.sleep(0.1)
    assert told == []


async def test_a_prompt_in_time_keeps_it_quiet(tmp_path: Path) -> None:
    told: list[Notification] = []
    model = FakeModel("One.")
    async with fake_session(
        tmp_path, model, listen(on.notification, lambda event: told.append(event)), ask=yes
    ) as session:
        await run(session)
        assert session.notifier._timer is not None
        timer = session.notifier._timer
        session.notifier.busy()
        assert timer.cancelled()
    assert told == []
