from __future__ import annotations

import asyncio

import pytest

from toolpost import Aborted, Notice
from toolpost_core.loop.queue import MessageQueue
from toolpost_core.tools.abort import AbortNode


def test_what_was_put_is_taken_once_and_in_order() -> None:
    shown: list[Notice] = []
    queue = MessageQueue(shown.append, waits=False)
    queue.put("one")
    queue.put("two", shown=Notice("two"))
    assert queue.take() == ("one", "two")
    assert queue.take() == ()
    assert shown == [Notice("two")]


async def test_a_run_ends_where_nothing_is_expected_even_if_something_waits() -> None:
    queue = MessageQueue(lambda notice: None, waits=True)
    queue.put("for the next prompt")
    assert await queue.at_end(AbortNode()) == ()
    assert queue.take() == ("for the next prompt",)


async def test_a_session_with_a_person_waits_for_nothing() -> None:
    queue = MessageQueue(lambda notice: None, waits=False)
    with queue.expect():
        assert await queue.at_end(AbortNode()) == ()


async def test_what_is_expected_is_waited_for() -> None:
    queue = MessageQueue(lambda notice: None, waits=True)
    with queue.expect():
        waiting = asyncio.create_task(queue.at_end(AbortNode()))
        await asyncio.sleep(0)
        queue.put("it ended")
    assert await waiting == ("it ended",)


async def test_what_is_expected_and_never_comes_holds_nobody() -> None:
    queue = MessageQueue(lambda notice: None, waits=True)
    with queue.expect():
        waiting = asyncio.create_task(queue.at_end(AbortNode()))
        await asyncio.sleep(0)
    assert await waiting == ()


async def test_an_abort_ends_the_waiting() -> None:
    queue, abort = MessageQueue(lambda notice: None, waits=True), AbortNode()
    with queue.expect():
        waiting = asyncio.create_task(queue.at_end(abort))
        await asyncio.sleep(0)
        abort.abort("user_cancel")
        with pytest.raises(Aborted):
            await waiting
