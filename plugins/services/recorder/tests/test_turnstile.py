"""What waits goes on in the order of the recording, and what will not come is told."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

from toolpost_service_recorder.turnstile import Turnstile


def call(name: str) -> dict[str, Any]:
    return {"e": "call", "id": name}


def told(text: str) -> dict[str, Any]:
    return {"e": "told", "event": text}


class Stage:
    """A turnstile, and what happened at it in order."""

    def __init__(self, *entries: dict[str, Any], stall: float = 5.0) -> None:
        self.happened: list[str] = []
        self.missed: list[str] = []
        self.turnstile = Turnstile(entries, lambda entry: self.happened.append(entry["event"]), self.miss, stall)

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
