"""Sync listeners of an event that can be rewritten: one after another, in one thread as far as that goes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from listener_bench import Bench

from toolpost import on
from toolpost.events.tool import PreToolUse, PreToolUseOutcome
from toolpost_core.events.dispatch import Emission

CALL = PreToolUse(tool_name="Bash", tool_input={"command": ""})


class Heard:
    """Listeners that add a letter to the command, and what each of them heard in which thread."""

    def __init__(self) -> None:
        self.commands: list[str] = []
        self.threads: list[int] = []

    def adds(self, letter: str, before: Callable[[], object] = lambda: None, **options: Any) -> Callable[..., Any]:
        """Return a sync listener; `before` is called first."""

        def listener(event: PreToolUse) -> PreToolUseOutcome:
            before()
            return self.answer(letter, event)

        return on.pre_tool_use.listener(**options)(listener)

    def adds_later(self, letter: str, *, marked_async: bool) -> Callable[..., Any]:
        """Return an async listener, or a sync one that returns an awaitable."""

        async def later(event: PreToolUse) -> PreToolUseOutcome:
            await asyncio.sleep(0)
            return self.answer(letter, event)

        return on.pre_tool_use(later if marked_async else lambda event: later(event))

    def answer(self, letter: str, event: PreToolUse) -> PreToolUseOutcome:
        self.commands.append(event.tool_input["command"])
        self.threads.append(threading.get_ident())
        return PreToolUseOutcome(updated_input={"command": event.tool_input["command"] + letter})


class Hanging:
    """Something that hangs until it is released, in a thread that then ends."""

    def __init__(self) -> None:
        self._release = threading.Event()
        self._thread: threading.Thread | None = None

    def __call__(self) -> None:
        self._thread = threading.current_thread()
        self._release.wait(30)

    async def end(self) -> None:
        """Release it, and wait for the end of its thread."""
        self._release.set()
        assert self._thread is not None
        await asyncio.to_thread(self._thread.join, 30)
        assert not self._thread.is_alive()


@pytest.fixture
def heard() -> Heard:
    return Heard()


def command(emission: Emission[PreToolUseOutcome]) -> str:
    assert emission.outcome is not None
    assert emission.outcome.updated_input is not None
    return str(emission.outcome.updated_input["command"])


@pytest.mark.requirement("events.rewrites_chain")
async def test_listeners_in_a_row_share_a_thread_and_each_sees_what_the_last_one_made(
    bench: Bench, heard: Heard
) -> None:
    for letter in "abc":
        bench.add(letter, heard.adds(letter))
    emissions = [await bench.events.emit(on.pre_tool_use, CALL) for _ in range(2)]

    assert heard.commands == ["", "a", "ab"] * 2
    assert [command(emission) for emission in emissions] == ["abc", "abc"]
    assert len(set(heard.threads)) == 1
    assert heard.threads[0] != threading.get_ident()


@pytest.mark.requirement("events.rewrites_chain")
@pytest.mark.parametrize("marked_async", [True, False])
async def test_one_that_is_to_be_awaited_is_awaited_in_the_loop_and_the_row_goes_on_after_it(
    bench: Bench, heard: Heard, marked_async: bool
) -> None:
    bench.add("a", heard.adds("a"))
    bench.add("b", heard.adds_later("b", marked_async=marked_async))
    bench.add("c", heard.adds("c"))
    emission = await bench.events.emit(on.pre_tool_use, CALL)

    assert heard.commands == ["", "a", "ab"]
    assert command(emission) == "abc"
    assert [thread == threading.get_ident() for thread in heard.threads] == [False, True, False]


@pytest.mark.requirement("events.isolated")
async def test_one_that_fails_or_answers_amiss_changes_nothing_for_those_after_it(bench: Bench, heard: Heard) -> None:
    bench.add("1", heard.adds("a"))
    bench.add("2 raises", heard.adds("!", lambda: 1 / 0))
    bench.add("3 amiss", on.pre_tool_use(lambda event: "deny"))  # type: ignore[arg-type, return-value]
    bench.add("4", heard.adds("b"))
    emission = await bench.events.emit(on.pre_tool_use, CALL)

    assert heard.commands == ["", "a"]
    assert command(emission) == "ab"
    assert [(answer.plugin, answer.error is not None) for answer in emission.answers] == [
        ("1", False),
        ("2 raises", True),
        ("3 amiss", True),
        ("4", False),
    ]
    assert [name in told for name, told in zip(("raises", "amiss"), bench.told, strict=True)] == [True, True]


@pytest.mark.requirement("events.isolated")
async def test_one_that_hangs_is_named_and_those_after_it_run_without_waiting_for_it(
    bench: Bench, heard: Heard
) -> None:
    hang = Hanging()
    bench.add("1", heard.adds("a"))
    bench.add("2 hangs", heard.adds("!", hang, timeout=0.05))
    bench.add("3", heard.adds("b"))
    bench.add("4", heard.adds("c"))
    emission = await bench.events.emit(on.pre_tool_use, CALL)

    assert [(answer.plugin, answer.timed_out) for answer in emission.answers] == [
        ("1", False),
        ("2 hangs", True),
        ("3", False),
        ("4", False),
    ]
    assert emission.failure == "the PreToolUse hook of '2 hangs' timed out after 0.05 s"
    assert command(emission) == "abc"
    assert len(set(heard.threads)) == 2

    await hang.end()
    assert heard.commands == ["", "a", "ab", "a"], "the thread that was left behind went on to the listeners after it"


async def test_each_has_its_own_time_however_long_those_before_it_took(bench: Bench, heard: Heard) -> None:
    done = threading.Event()
    for letter in "abc":
        bench.add(letter, heard.adds(letter, lambda: done.wait(0.4), timeout=1))
    emission = await bench.events.emit(on.pre_tool_use, CALL)

    assert [answer.error for answer in emission.answers] == [None, None, None]
    assert sum(answer.duration for answer in emission.answers) >= 1.2
    assert command(emission) == "abc"


async def test_cancelling_the_emission_calls_none_of_those_that_are_left(bench: Bench, heard: Heard) -> None:
    loop, began, hang = asyncio.get_running_loop(), asyncio.Event(), Hanging()

    def begin() -> None:
        loop.call_soon_threadsafe(began.set)
        hang()

    bench.add("a", heard.adds("a", begin))
    bench.add("b", heard.adds("b"))
    emitting = asyncio.ensure_future(bench.events.emit(on.pre_tool_use, CALL))
    await began.wait()
    emitting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await emitting

    await hang.end()
    assert heard.commands == [""]


async def test_calls_at_the_same_time_have_threads_of_their_own(bench: Bench, heard: Heard) -> None:
    both = threading.Barrier(2)
    bench.add("a", heard.adds("a", lambda: both.wait(30)))
    bench.add("b", heard.adds("b"))
    emissions = await asyncio.gather(*(bench.events.emit(on.pre_tool_use, CALL) for _ in range(2)))

    assert [command(emission) for emission in emissions] == ["ab", "ab"]
    assert len(set(heard.threads)) == 2
