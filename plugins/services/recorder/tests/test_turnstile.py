"""What waits goes on in the order of the recording, and what will not come is told."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from typing import Any

import pytest

from toolpost_service_recorder import pace, turnstile
from toolpost_service_recorder.pace import Pace
from toolpost_service_recorder.turnstile import Turnstile


def call(name: str, **after: int) -> dict[str, Any]:
    return {"e": "call", "id": name, "after": after}


def told(text: str, **after: int) -> dict[str, Any]:
    return {"e": "told", "event": text, "after": after}


def did(text: str, **after: int) -> dict[str, Any]:
    return {"e": "did", "what": "submit", "event": text, "after": after}


class Stage:
    """A turnstile, and what happened at it in order."""

    def __init__(self, *entries: dict[str, Any], stall: float = 5.0) -> None:
        self.happened: list[str] = []
        self.missed: list[str] = []
        self.pace = Pace()
        self.turnstile = Turnstile(entries, self.show, self.miss, stall, self.pace)

    def show(self, entry: Mapping[str, Any]) -> None:
        self.happened.append(entry["event"])

    def read(self, row: str, times: int = 1) -> None:
        """Read values, as the session does."""
        for _ in range(times):
            self.turnstile.before_reading(row)
            self.pace.reads(row)
            self.happened.append(row)

    def look(self, row: str) -> None:
        self.turnstile.before_looking(row)
        self.pace.reads(row)
        self.happened.append("looked")

    def miss(self, text: str) -> None:
        self.missed.append(text)
        self.turnstile.end()

    async def go(self, name: str) -> None:
        entry = await self.turnstile.turn(("call", name))
        self.happened.append(name if entry is not None else f"no {name}")


@pytest.mark.parametrize("order", list(itertools.permutations("abc")), ids="".join)
async def test_what_waits_in_any_order_goes_on_in_the_recorded_one(order: tuple[str, ...]) -> None:
    stage = Stage(call("b"), call("c"), call("a"))
    await asyncio.gather(*map(stage.go, order))

    assert stage.happened == ["b", "c", "a"]


async def test_what_happens_of_itself_has_its_place() -> None:
    stage = Stage(told("before"), call("a"), told("between"), call("b"))
    await asyncio.gather(stage.go("b"), stage.go("a"))

    assert stage.happened == ["before", "a", "between", "b"]


async def test_what_follows_from_an_entry_happens_before_the_next_one() -> None:
    stage = Stage(call("a"), call("b"))

    async def slow() -> None:
        await stage.go("a")
        for _ in range(10):
            await asyncio.sleep(0)
        stage.happened.append("after a")

    await asyncio.gather(slow(), stage.go("b"))

    assert stage.happened == ["a", "after a", "b"]


async def test_what_is_not_in_the_recording_is_not_waited_for() -> None:
    stage = Stage(call("a"))
    await stage.go("x")

    assert stage.happened == ["no x"]


async def test_what_will_not_come_is_told_instead_of_waited_for() -> None:
    stage = Stage(call("a"), call("b"), stall=0.01)
    await stage.go("b")

    assert stage.missed == [
        "The recording has the end of the call a next. The session waits for the end of the call b."
    ]
    assert stage.happened == ["no b"]


async def test_what_nobody_waits_for_is_told_once_the_session_does_nothing_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (pace, turnstile):
        monkeypatch.setattr(module, "TICK", 0.001)
        monkeypatch.setattr(module, "LONG_PATIENCE", 5)
    stage = Stage(call("a"), did("put in"))
    stage.turnstile.begin()
    assert stage.turnstile._turning is not None
    await asyncio.wait_for(stage.turnstile._turning, 30)

    assert stage.missed == ["The recording has the end of the call a next. The session waits for nothing of it."]
    assert stage.happened == []


async def test_what_cannot_be_done_is_told_to_all_that_wait() -> None:
    stage = Stage(did("put in"), call("a"))

    def fails(entry: Mapping[str, Any]) -> None:
        raise TypeError(f"no {entry['event']}")

    stage.turnstile._show = fails
    await asyncio.wait_for(stage.go("a"), 30)

    assert stage.missed == ["What the recording has next can't be done here: TypeError: no put in."]
    assert stage.happened == ["no a"]


async def test_while_a_real_tool_runs_nothing_is_missed() -> None:
    stage = Stage(call("a"), call("b"), stall=0.01)
    stage.turnstile.busy = 1

    async def tool() -> None:
        await asyncio.sleep(0.05)
        await stage.go("a")

    await asyncio.gather(stage.go("b"), tool())

    assert stage.missed == []
    assert stage.happened == ["a", "b"]


async def test_what_was_called_off_takes_no_turn() -> None:
    stage = Stage(call("a"), call("b"), call("a"))
    waiting = asyncio.create_task(stage.go("b"))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait({waiting})
    await asyncio.gather(stage.go("a"), stage.go("b"), stage.go("a"))

    assert stage.happened == ["a", "b", "a"]


async def test_what_only_is_shown_is_not_missing_at_the_end() -> None:
    stage = Stage(call("a"), told("late"), call("b"), told("last"))
    assert stage.turnstile.undone == call("a")
    await asyncio.gather(stage.go("a"), stage.go("b"))

    assert stage.turnstile.undone is None


# Where the session is.


async def test_what_waits_goes_on_once_the_session_has_read_as_much_as_it_had_then() -> None:
    stage = Stage(call("a", ids=2))
    going = asyncio.create_task(stage.go("a"))
    for _ in range(100):
        await asyncio.sleep(0)
    stage.read("ids", 2)
    await going

    assert stage.happened == ["ids", "ids", "a"]


async def test_what_happens_of_itself_does_so_before_the_value_that_was_read_after_it() -> None:
    stage = Stage(told("first"), told("second", ids=1), told("third", ids=1, clock=1), call("a", ids=3, clock=1))
    stage.read("ids")
    stage.read("clock")
    stage.read("ids", 2)
    await stage.go("a")

    assert stage.happened == ["first", "ids", "second", "clock", "third", "ids", "ids", "a"]


async def test_what_was_put_in_before_a_look_is_there_though_something_is_ahead_of_it() -> None:
    stage = Stage(call("a"), did("put in"), told("shown"), did("put in later", came=1))
    stage.look("came")
    stage.look("came")
    await stage.go("a")

    assert stage.happened == ["put in", "looked", "put in later", "looked", "a"]


async def test_a_version_that_reads_less_goes_on_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "TICK", 0.001)
    stage = Stage(call("a", ids=1), call("b", ids=2), call("c", ids=3, clock=1))
    await stage.go("a")
    await stage.go("b")
    going = asyncio.create_task(stage.go("c"))
    for _ in range(100):
        await asyncio.sleep(0)
    stage.read("clock")
    await going

    assert stage.happened == ["a", "b", "clock", "c"]


async def test_who_is_busy_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "TICK", 0.001)
    stage = Stage(call("a", ids=1))
    stage.turnstile.busy = 1
    going = asyncio.create_task(stage.go("a"))
    await asyncio.sleep(0.2)
    stage.read("ids")
    await going

    assert stage.happened == ["ids", "a"]
