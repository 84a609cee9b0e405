from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from listener_bench import Bench, add, fresh_manager

from toolpost import on
from toolpost.events.tool import PreToolUse
from toolpost.events.turn import Notification

CALL = PreToolUse(tool_name="Bash", tool_input={"command": "ls"})
NOTE = Notification(message="look")


def failing(calls: list[Any]) -> Callable[..., Any]:
    async def fail(event: Notification) -> None:
        calls.append(event)
        raise ValueError("no")

    return on.notification(fail)


async def test_a_listener_that_failed_three_times_is_off_and_that_is_said_once(bench: Bench) -> None:
    calls = []

    @on.notification
    async def fail(event: Notification) -> None:
        calls.append(event)
        raise ValueError("no")

    bench.add("lifecycle/noisy", fail)
    for _ in range(5):
        emission = await bench.events.emit(on.notification, Notification(message="look"))
        assert emission.failure is None

    assert len(calls) == 3
    assert bench.events.quarantined() == [("lifecycle/noisy", "notification")]
    (off,) = [text for text in bench.told if "is off for this session" in text]
    assert "'lifecycle/noisy' failed 3 times" in off
    assert "toolpost plugins disable noisy" in off


@pytest.mark.requirement("plugins.gates_are_never_missing")
async def test_a_gate_that_is_off_after_its_failures_goes_on_to_block(bench: Bench) -> None:
    calls = []

    @on.pre_tool_use
    def gate(event: PreToolUse) -> None:
        calls.append(event)
        raise ValueError("no")

    bench.add("gate", gate)
    failures = [(await bench.events.emit(on.pre_tool_use, CALL)).failure for _ in range(5)]

    assert len(calls) == 3
    assert all(failures)
    assert "is off after 3 failures" in (failures[-1] or "")


async def test_a_listener_that_is_off_stays_so_when_a_reload_makes_it_anew(bench: Bench) -> None:
    calls: list[Any] = []
    bench.add("noisy", failing(calls))
    for _ in range(3):
        await bench.events.emit(on.notification, NOTE)
    again = fresh_manager()
    add(again, "noisy", failing(calls))
    bench.events.adopt(again)
    await bench.events.emit(on.notification, NOTE)

    assert len(calls) == 3
    assert bench.events.quarantined() == [("noisy", "notification")]


async def test_failures_before_and_after_a_reload_add_up(bench: Bench) -> None:
    calls: list[Any] = []
    bench.add("noisy", failing(calls))
    await bench.events.emit(on.notification, NOTE)
    again = fresh_manager()
    add(again, "noisy", failing(calls))
    bench.events.adopt(again)
    for _ in range(5):
        await bench.events.emit(on.notification, NOTE)

    assert len(calls) == 3


async def test_a_plugin_that_is_not_what_it_was_begins_anew_and_no_other_does(bench: Bench) -> None:
    mended: list[Any] = []
    same: list[Any] = []
    bench.add("mended", failing(mended))
    bench.add("same", failing(same))
    for _ in range(3):
        await bench.events.emit(on.notification, NOTE)
    again = fresh_manager()
    add(again, "mended", failing(mended))
    add(again, "same", failing(same))
    bench.events.adopt(again, {"mended"})
    await bench.events.emit(on.notification, NOTE)

    assert (len(mended), len(same)) == (4, 3)
    assert bench.events.quarantined() == [("same", "notification")]


async def test_two_listeners_of_one_plugin_to_one_event_are_told_apart(bench: Bench) -> None:
    bad: list[Any] = []
    good: list[Any] = []

    @on.notification
    async def listen(event: Notification) -> None:
        good.append(event)

    bench.add("both", failing(bad), listen)
    for _ in range(2):
        for _ in range(4):
            await bench.events.emit(on.notification, NOTE)
        again = fresh_manager()
        add(again, "both", failing(bad), listen)
        bench.events.adopt(again)

    assert (len(bad), len(good)) == (3, 8)


async def test_what_is_off_is_part_of_the_account(bench: Bench) -> None:
    bench.add("noisy", failing([]))
    for _ in range(4):
        await bench.events.emit(on.notification, NOTE)
    account = bench.events.account()

    (times,) = account["listeners"]
    assert (times["event"], times["plugin"], times["calls"], times["failures"]) == ("Notification", "noisy", 3, 3)
    assert account["quarantined"] == [
        {"event": "Notification", "plugin": "noisy", "blocks": False, "error": "failed: ValueError: no"}
    ]
    assert bench.events.account() == {"listeners": [], "quarantined": account["quarantined"]}
