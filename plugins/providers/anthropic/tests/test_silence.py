from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

import pytest

from toolpost import ModelRequest, ProviderError, Retrying, StreamEvent
from toolpost_provider_anthropic import Anthropic
from toolpost_provider_anthropic.patience import Patience
from toolpost_provider_anthropic.silence import Watch

from .conftest import Answer, Serve, sse, start, text_answer

CLIENTS = pytest.mark.parametrize("client", ["wire", "sdk"])
PING = sse({"type": "ping"})


async def ask(client: Any, **fields: Any) -> list[StreamEvent]:
    asked = ModelRequest(model="claude-sonnet-5-5", messages=[{"role": "user", "content": "Hi"}], **fields)
    try:
        return [event async for event in Anthropic(client=client, max_retries=1).stream(asked)]
    finally:
        await asked.stash.aclose()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLPOST_STREAM_IDLE_TIMEOUT_MS", "400")


@CLIENTS
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("begun", [b"", sse(start()), PING], ids=["head", "start", "ping"])
async def test_silence_ends_an_answer_and_it_is_asked_for_again(serve: Serve, client: str, begun: bytes) -> None:
    async with serve(Answer(begun, hang=True), Answer(text_answer())) as server:
        first, *rest = await ask(client)
    assert isinstance(first, Retrying)
    assert "sent nothing for" in first.error
    assert "TOOLPOST_STREAM_IDLE_TIMEOUT_MS" in first.error
    assert rest
    assert len(server.requests) == 2


@CLIENTS
@pytest.mark.usefixtures("quick")
async def test_an_address_that_does_not_answer_at_all_is_silent_too(serve: Serve, client: str) -> None:
    async with serve(Answer(b"", mute=True)) as server:
        with pytest.raises(ProviderError, match="sent nothing for") as caught:
            await ask(client)
    assert (caught.value.kind, caught.value.retriable) == ("timeout", True)
    assert len(server.requests) == 2


@CLIENTS
@pytest.mark.usefixtures("quick")
async def test_pings_keep_an_answer_alive(serve: Serve, client: str) -> None:
    async with serve(Answer(PING * 8 + text_answer("x"), cut=len(PING), pause=0.1)) as server:
        events = await ask(client)
    assert not any(isinstance(event, Retrying) for event in events)
    assert len(server.requests) == 1


@CLIENTS
async def test_pings_alone_end_at_a_limit_of_their_own(
    serve: Serve, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLPOST_STREAM_PING_TIMEOUT_MS", "400")
    endless = Answer(sse(start()) + PING * 10_000, cut=len(PING), pause=0.02)
    async with serve(endless, Answer(text_answer())) as server:
        first, *_ = await ask(client)
    assert isinstance(first, Retrying)
    assert "signs of life and nothing else" in first.error
    assert len(server.requests) == 2


@pytest.mark.parametrize("name", ["TOOLPOST_STREAM_IDLE_TIMEOUT_MS", "TOOLPOST_STREAM_PING_TIMEOUT_MS"])
@pytest.mark.parametrize("value", ["0", "soon", "-1"])
async def test_a_limit_that_can_not_be_used_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ProviderError, match=f"{name} is '{value}'"):
        await ask("wire")


def test_a_long_prompt_may_be_read_for_longer_before_the_first_byte() -> None:
    patience = Patience()
    assert patience.before_the_first_byte(1_000) == pytest.approx(90, abs=0.1)
    assert patience.before_the_first_byte(4_000_000) == pytest.approx(170)


class Clock:
    """A clock that goes on when it is told to, and at each look."""

    def __init__(self, step: float) -> None:
        self.now = 1_000.0
        self.step = step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


async def watched(clock: Callable[[], float], looks: int, patience: Patience | None = None) -> str:
    """Wait for what never comes, under a watch that looks so many times; return what came of it."""
    with Watch(patience or Patience(), "http://x", clock) as watch:
        never: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        waiting = asyncio.ensure_future(watch.hear(never))
        await asyncio.sleep(0)
        for _ in range(looks):
            watch.look()
        done, _ = await asyncio.wait({waiting}, timeout=0.05)
        if done:
            with pytest.raises(ProviderError) as caught:
                await waiting
            return str(caught.value)
        never.set_result("came")
        return await waiting


async def test_ninety_seconds_of_looks_end_the_wait() -> None:
    assert await watched(Clock(1.0), 85) == "came"
    assert "sent nothing for 90 s" in await watched(Clock(1.0), 95)


async def test_looks_between_the_end_of_the_wait_and_who_waits_change_nothing() -> None:
    with Watch(Patience(), "http://x", Clock(1.0)) as watch:
        waiting = asyncio.ensure_future(watch.hear(asyncio.get_running_loop().create_future()))
        for _ in range(100):
            await asyncio.sleep(0)
            watch.look()
        with pytest.raises(ProviderError, match="sent nothing for 90 s"):
            await waiting


@pytest.mark.parametrize("jump", [600.0, 36_000.0, -36_000.0])
async def test_a_clock_that_jumps_kills_no_stream(jump: float) -> None:
    clock = Clock(1.0)
    with Watch(Patience(), "http://x", clock) as watch:
        coming: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        waiting = asyncio.ensure_future(watch.hear(coming))
        await asyncio.sleep(0)
        for _ in range(40):
            watch.look()
        clock.now += jump  # the laptop was closed
        watch.look()
        await asyncio.sleep(0)
        assert not waiting.done()
        coming.set_result("bytes")
        assert await waiting == "bytes"


async def test_pings_that_come_just_in_time_do_not_get_round_their_limit() -> None:
    with Watch(Patience(pings=5), "http://x", Clock(1.0)) as watch:
        coming: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        waiting = asyncio.ensure_future(watch.hear(coming))
        await asyncio.sleep(0)
        for _ in range(10):
            watch.look()
        coming.set_result(b"ping")

        async def two_pings() -> None:
            await waiting
            await watch.hear(asyncio.sleep(60, b"ping"))

        with pytest.raises(ProviderError, match="signs of life and nothing else for 5 s"):
            await two_pings()


async def test_time_in_which_nobody_reads_is_no_silence() -> None:
    clock = Clock(1.0)
    with Watch(Patience(), "http://x", clock) as watch:
        for _ in range(200):
            watch.look()
        assert await watch.hear(asyncio.sleep(0, "bytes")) == "bytes"


async def test_what_is_called_off_is_called_off_and_not_given_up() -> None:
    with Watch(Patience(), "http://x") as watch:
        waiting = asyncio.ensure_future(watch.hear(asyncio.get_running_loop().create_future()))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting


async def test_a_stall_of_thirty_seconds_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "toolpost.provider.anthropic"):
        await watched(Clock(1.0), 28)
        assert not caplog.records
        await watched(Clock(1.0), 80)
    assert [record.getMessage() for record in caplog.records] == ["http://x has sent nothing for 30 s"]


async def test_a_call_off_in_the_middle_of_silence_is_at_once(serve: Serve) -> None:
    async with serve(Answer(sse(start()), hang=True)) as server:
        task = asyncio.create_task(ask("wire"))
        await server.asked.wait()
        began = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - began < 0.2
