from __future__ import annotations

import asyncio
import time
from email.utils import formatdate
from typing import Any

import pytest

from toolpost import MessageStart, ModelRequest, PromptTooLong, ProviderError, Retrying, Stop, StreamEvent
from toolpost_provider_anthropic import Anthropic
from toolpost_provider_anthropic.errors import from_error, retry_after
from toolpost_provider_anthropic.retry import wait_before

from .conftest import Answer, Serve, sse, start, text_answer

BUSY = b'{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}'
JSON = {"content-type": "application/json"}


def request() -> ModelRequest:
    return ModelRequest(model="claude-sonnet-5-5", messages=[{"role": "user", "content": "Hi"}])


async def ask(provider: Anthropic, asked: ModelRequest) -> list[StreamEvent]:
    return [event async for event in provider.stream(asked)]


async def test_what_may_pass_is_tried_again_visibly(serve: Serve) -> None:
    now = {**JSON, "retry-after": "0"}
    broken = sse(start(), {"type": "error", "error": {"type": "api_error", "message": "oh"}})
    async with serve(Answer(BUSY, 529, now), Answer(broken), Answer(text_answer())) as server:
        asked = request()
        events = await ask(Anthropic(max_retries=3), asked)
        await asked.stash.aclose()
    first, second, begun = events[:3]
    assert isinstance(first, Retrying)
    assert (first.attempt, first.of, first.delay, first.status) == (1, 3, 0.0, 529)
    assert "Overloaded" in first.error
    assert isinstance(second, Retrying)
    assert (second.attempt, second.status) == (2, None)
    assert isinstance(begun, MessageStart)
    assert len({body for _, _, body in server.requests}) == 1


async def test_it_gives_up_after_the_last_retry(serve: Serve) -> None:
    async with serve(Answer(BUSY, 529, {**JSON, "retry-after": "0"})) as server:
        asked = request()
        with pytest.raises(ProviderError, match="Overloaded"):
            await ask(Anthropic(max_retries=2), asked)
        await asked.stash.aclose()
    assert len(server.requests) == 3


async def test_nothing_is_tried_again_once_content_came(serve: Serve) -> None:
    cut = text_answer()[:-200]
    async with serve(Answer(cut), Answer(text_answer())) as server:
        asked = request()
        with pytest.raises(ProviderError, match="ended before the answer did"):
            await ask(Anthropic(), asked)
        await asked.stash.aclose()
    assert len(server.requests) == 1


async def test_a_connection_that_breaks_in_the_middle_is_told(serve: Serve) -> None:
    async with serve(Answer(text_answer()[:-200], drop=True)) as server:
        asked = request()
        with pytest.raises(ProviderError, match="broke off") as caught:
            await ask(Anthropic(), asked)
        await asked.stash.aclose()
    assert caught.value.kind == "connection"
    assert len(server.requests) == 1


async def test_an_address_that_speaks_no_tls_is_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Speak plainly\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"https://127.0.0.1:{port}")
        asked = request()
        with pytest.raises(ProviderError, match="No connection to https:"):
            await ask(Anthropic(max_retries=0), asked)
        await asked.stash.aclose()


async def test_a_proxy_of_the_environment_is_used(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serve(Answer(text_answer())) as server:
        monkeypatch.setenv("HTTP_PROXY", server.url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://api.invalid/base")
        asked = request()
        await ask(Anthropic(), asked)
        await asked.stash.aclose()
    assert server.requests[0][0].startswith("POST http://api.invalid/base/v1/messages ")


async def test_who_is_asked_to_wait_too_long_is_told(serve: Serve) -> None:
    async with serve(Answer(BUSY, 429, {**JSON, "retry-after": "121"})) as server:
        asked = request()
        with pytest.raises(ProviderError) as caught:
            await ask(Anthropic(), asked)
        await asked.stash.aclose()
    assert caught.value.retry_after == 121
    assert "It asks to wait for 3 minutes." in str(caught.value)
    assert len(server.requests) == 1


async def test_a_wait_can_be_called_off(serve: Serve) -> None:
    async with serve(Answer(BUSY, 529, {**JSON, "retry-after": "100"})):
        asked = request()
        waiting = asyncio.Event()

        async def consume() -> None:
            async for event in Anthropic().stream(asked):
                assert isinstance(event, Retrying)
                waiting.set()

        task = asyncio.create_task(consume())
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asked.stash.aclose()


async def test_cancelling_a_task_in_the_middle_closes_the_connection(serve: Serve) -> None:
    async with serve(Answer(sse(start()), hang=True)) as server:
        asked = request()
        task = asyncio.create_task(ask(Anthropic(), asked))
        await server.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.gone.wait()
        await asked.stash.aclose()


async def test_the_requests_of_a_session_share_a_connection(serve: Serve) -> None:
    async with serve(Answer(text_answer())) as server:
        asked = request()
        for _ in range(5):
            await ask(Anthropic(), asked)
        await asked.stash.aclose()
    assert (server.connections, len(server.requests)) == (1, 5)


async def test_a_stream_that_stays_open_after_its_end_does_not_hold_the_answer_up(serve: Serve) -> None:
    async with serve(Answer(text_answer(), hang=True)) as server:
        asked = request()
        assert isinstance((await ask(Anthropic(), asked))[-1], Stop)
        await server.gone.wait()
        await asked.stash.aclose()


@pytest.mark.parametrize("url", ["api.example.com", "ftp://x", "http://", "http://x:y", "https://a b", "http://[::1"])
async def test_a_bad_address_is_refused_with_an_example(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    with pytest.raises(ProviderError, match=r"ANTHROPIC_BASE_URL is .*https://api\.anthropic\.com"):
        await ask(Anthropic(), request())


@pytest.mark.parametrize(
    ("name", "value"),
    [("ANTHROPIC_CUSTOM_HEADERS", "no colon"), ("API_TIMEOUT_MS", "ten"), ("ANTHROPIC_API_KEY", "a\nb")],
)
async def test_a_variable_that_can_not_be_used_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ProviderError, match=name):
        await ask(Anthropic(), request())


async def test_the_setting_goes_before_the_variable(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serve(Answer(text_answer())) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://nowhere.invalid")
        asked = request()
        await ask(Anthropic(base_url=server.url + "/"), asked)
        await asked.stash.aclose()
    assert server.requests[0][0].startswith("POST /v1/messages ")


@pytest.mark.parametrize(
    ("message", "over"),
    [
        ("prompt is too long: 215000 tokens > 200000 maximum", 15_000),
        ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease", 10_000),
        ("prompt is too long", None),
    ],
)
def test_a_prompt_that_is_too_long_says_by_how_much(message: str, over: int | None) -> None:
    error = from_error({"type": "invalid_request_error", "message": message}, 400)
    assert isinstance(error, PromptTooLong)
    assert (error.tokens_over, error.status, error.kind, error.retriable) == (over, 400, "invalid_request", False)


def test_a_wait_is_read_in_each_of_its_forms() -> None:
    assert retry_after({"retry-after-ms": "1500", "retry-after": "9"}) == 1.5
    assert retry_after({"retry-after": "9"}) == 9
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    assert 58 <= (retry_after({"retry-after": formatdate(time.time() + 60, usegmt=True)}) or 0) <= 60
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({"retry-after": "-1"}) is None
    assert retry_after({}) is None


def test_waits_grow_up_to_a_limit_unless_the_service_says() -> None:
    waits = [wait_before(attempt, None) for attempt in range(1, 12)]
    assert 0.375 <= waits[0] <= 0.5
    assert 24 <= waits[-1] <= 32
    assert wait_before(9, 3.0) == 3.0


def test_a_service_that_says_so_is_not_asked_again() -> None:
    assert not from_error({"type": "api_error", "message": "x"}, 500, {"x-should-retry": "false"}).retriable
    assert from_error({"type": "invalid_request_error", "message": "x"}, 400, {"x-should-retry": "true"}).retriable


def test_what_is_missing_is_said_without_the_network() -> None:
    provider: Any = Anthropic()
    assert provider.unusable({}) == (
        "No key for the Anthropic API. Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN), or "
        "ANTHROPIC_PROFILE to use a profile of the official client."
    )
    assert provider.unusable({"ANTHROPIC_API_KEY": " "}) is not None
    assert provider.unusable({"ANTHROPIC_AUTH_TOKEN": "t"}) is None
    assert provider.credential_source({"ANTHROPIC_AUTH_TOKEN": "t", "ANTHROPIC_API_KEY": "k"}) == "ANTHROPIC_API_KEY"
    assert provider.credential_source({"ANTHROPIC_PROFILE": "p"}) == "ANTHROPIC_PROFILE"
    assert Anthropic(client="wire").unusable({"ANTHROPIC_PROFILE": "p"}) is not None


def test_the_key_shows_in_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    from toolpost_provider_anthropic.endpoint import from_environment

    assert "secret-1" not in repr(from_environment({"ANTHROPIC_API_KEY": "secret-1"}))
