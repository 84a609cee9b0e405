from __future__ import annotations

import asyncio

import pytest

from toolpost import Aborted, Notice, Priority, Queued
from toolpost_core.loop.queue import MessageQueue
from toolpost_core.tools.abort import AbortNode


def queue_of(*, waits: bool = False) -> MessageQueue:
    return MessageQueue(lambda notice: None, waits=waits)


def prompt(name: str, priority: Priority = "next") -> Queued:
    return Queued(id=name, content=name, priority=priority)


def ids(queued: tuple[Queued, ...]) -> list[str]:
    return [each.text for each in queued]


def test_what_was_put_is_taken_once_and_in_order() -> None:
    queue = queue_of()
    queue.put("one")
    queue.put("two")
    queue.add(prompt("mine"))
    assert queue.take_texts() == ("one", "two")
    assert queue.take_texts() == ()
    assert queue.take_prompt() == prompt("mine")
    assert queue.take_prompt() is None


def test_now_is_read_before_next_and_next_before_later_and_equals_as_they_came() -> None:
    queue = queue_of()
    queue.add(prompt("later", "later"))
    queue.add(prompt("first"))
    queue.put("a task ended", kind="task")
    queue.add(prompt("second"))
    queue.add(prompt("now", "now"))
    assert ids(queue.waiting()) == ["now", "first", "a task ended", "second", "later"]
    assert ids(tuple(iter(queue.take_next, None))) == ["now", "first", "a task ended", "second"]
    assert ids(queue.waiting()) == ["later"], "what is for later is no part of a turn that runs"


def test_what_is_taken_back_is_never_read() -> None:
    queue = queue_of()
    queue.add(prompt("a"))
    queue.add(prompt("b"))
    assert queue.withdraw("a") == prompt("a")
    assert queue.withdraw("a") is None
    assert ids(tuple(iter(queue.take_next, None))) == ["b"]


def test_front_ends_hear_of_a_text_at_once_while_a_turn_runs_and_else_as_one_begins() -> None:
    shown: list[str] = []
    queue = MessageQueue(lambda notice: shown.append(notice.text), waits=False)
    queue.put("early", shown=Notice("before the turn"), kind="task")
    assert shown == []
    queue.take_texts()
    assert shown == ["before the turn"]
    queue.busy = True
    queue.put("late", shown=Notice("during the turn"), kind="task")
    assert shown == ["before the turn", "during the turn"]
    assert queue.take_next() is not None
    assert shown == ["before the turn", "during the turn"], "nobody is told twice"


def test_the_transcript_knows_what_had_to_wait_and_what_became_of_it() -> None:
    record: list[tuple[str, str]] = []
    queue = MessageQueue(
        lambda notice: None, lambda operation, queued: record.append((operation, queued.text)), waits=False
    )
    queue.add(prompt("at once"))
    queue.take_prompt()
    assert record == []
    queue.busy = True
    queue.add(prompt("read"))
    queue.add(prompt("taken back"))
    queue.put("context is no news")
    queue.withdraw("taken back")
    assert queue.take_next() == prompt("read")
    assert record == [("enqueue", "read"), ("enqueue", "taken back"), ("remove", "taken back"), ("dequeue", "read")]


async def test_prompts_and_news_begin_a_turn_and_context_does_not() -> None:
    queue = queue_of()
    waiting = asyncio.create_task(queue.until_due())
    queue.put("context")
    await asyncio.sleep(0)
    assert (queue.due, waiting.done()) == (False, False)
    queue.put("it ended", kind="task")
    await waiting
    assert queue.take_texts() == ("context", "it ended")
    queue.add(prompt("go"))
    await queue.until_due()


def test_after_an_interrupt_only_prompts_and_later_news_begin_a_turn() -> None:
    queue = queue_of()
    queue.put("it ended", kind="task")
    queue.calm()
    assert not queue.due
    queue.add(prompt("go on"))
    assert queue.due
    queue.calm()
    assert queue.due


async def test_a_run_ends_where_only_context_waits() -> None:
    queue = queue_of(waits=True)
    queue.put("for the next prompt")
    assert await queue.at_end(AbortNode()) == ()
    assert queue.take_texts() == ("for the next prompt",)


async def test_a_run_of_nobody_goes_on_with_news_that_came_while_the_model_ended() -> None:
    queue = queue_of(waits=True)
    queue.put("it ended", kind="task")
    assert await queue.at_end(AbortNode()) == ("it ended",)


async def test_a_run_ends_for_a_prompt_that_waits_whatever_else_does() -> None:
    queue = queue_of(waits=True)
    queue.put("it ended", kind="task")
    queue.add(prompt("another"))
    with queue.expect():
        assert await queue.at_end(AbortNode()) == ()
    assert queue.due


async def test_a_session_with_a_person_waits_for_nothing() -> None:
    queue = queue_of()
    with queue.expect():
        assert await queue.at_end(AbortNode()) == ()


async def test_what_is_expected_is_waited_for() -> None:
    queue = queue_of(waits=True)
    with queue.expect():
        waiting = asyncio.create_task(queue.at_end(AbortNode()))
        await asyncio.sleep(0)
        queue.put("it ended")
    assert await waiting == ("it ended",)


async def test_what_is_expected_and_never_comes_holds_nobody() -> None:
    queue = queue_of(waits=True)
    with queue.expect():
        waiting = asyncio.create_task(queue.at_end(AbortNode()))
        await asyncio.sleep(0)
    assert await waiting == ()


async def test_an_abort_ends_the_waiting() -> None:
    queue, abort = queue_of(waits=True), AbortNode()
    with queue.expect():
        waiting = asyncio.create_task(queue.at_end(abort))
        await asyncio.sleep(0)
        abort.abort("user_cancel")
        with pytest.raises(Aborted):
            await waiting
