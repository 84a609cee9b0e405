from __future__ import annotations

import asyncio

from terminal_doubles import ScriptedDoor  # type: ignore[import-not-found]

from toolpost_frontend_terminal.outbox import Outbox


def during_a_turn() -> tuple[Outbox, ScriptedDoor]:
    outbox, door = Outbox(), ScriptedDoor()
    outbox.attach(door)
    return outbox, door


async def test_without_a_turn_a_line_is_the_next_one() -> None:
    outbox = Outbox()
    waiting = asyncio.create_task(outbox.next())
    await asyncio.sleep(0)
    outbox.send("hello")
    assert await waiting == "hello"


def test_during_a_turn_a_prompt_waits_in_the_session() -> None:
    outbox, door = during_a_turn()
    outbox.send("and this")
    assert [queued.text for queued in door.queued()] == ["and this"]
    assert outbox.waiting() == ["and this"]


def test_a_command_waits_for_the_end_of_the_turn_and_prompts_behind_it_do_so_as_well() -> None:
    outbox, door = during_a_turn()
    for text in ("first", "/clear", "in the new conversation"):
        outbox.send(text)
    assert [queued.text for queued in door.queued()] == ["first"]
    assert outbox.waiting() == ["first", "/clear", "in the new conversation"]


def test_what_was_sent_last_is_taken_back_first() -> None:
    outbox, door = during_a_turn()
    for text in ("one", "two", "/cost"):
        outbox.send(text)
    assert [outbox.take_back() for _ in range(4)] == ["/cost", "two", "one", None]
    assert door.queued() == ()


def test_all_is_taken_back_in_the_order_in_which_it_was_sent() -> None:
    outbox, _ = during_a_turn()
    for text in ("one", "two", "/cost"):
        outbox.send(text)
    assert outbox.take_back_all() == ["one", "two", "/cost"]
    assert outbox.waiting() == []


async def test_nothing_comes_from_one_that_is_closed() -> None:
    outbox = Outbox()
    outbox.send("too late")
    outbox.close()
    assert await outbox.next() is None
