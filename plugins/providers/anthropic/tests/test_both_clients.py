from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

from toolpost import (
    Block,
    InputDelta,
    MessageStart,
    ModelRequest,
    ProviderError,
    Stop,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolUse,
    ToolUseStart,
    Usage,
)
from toolpost_provider_anthropic import Anthropic

from .conftest import Answer, Serve, end, rich_answer, sse, start, text_answer

CLIENTS = pytest.mark.parametrize("client", ["wire", "sdk"])


def request(**fields: Any) -> ModelRequest:
    return ModelRequest(model="claude-sonnet-5-5", messages=[{"role": "user", "content": "Hi"}], **fields)


async def ask(client: Any, **fields: Any) -> list[StreamEvent]:
    asked = request(**fields)
    try:
        return [event async for event in Anthropic(client=client, max_retries=0).stream(asked)]
    finally:
        await asked.stash.aclose()


@CLIENTS
@pytest.mark.parametrize("cut", [1, 2, 7, 64, 0])
async def test_the_same_bytes_give_the_same_events_in_any_chunking(serve: Serve, client: str, cut: int) -> None:
    async with serve(Answer(rich_answer(), cut=cut)):
        events = await ask(client)
    usage = Usage(10, 1, 5, 300, 2)
    assert events == [
        MessageStart("msg_1", "claude-sonnet-5-5", usage),
        ThinkingDelta("Let me sé"),
        ThinkingDelta("e.\r\n\u2028"),
        Block({"type": "thinking", "thinking": "Let me sée.\r\n\u2028", "signature": "EqQB/+==xyz"}),
        Block({"type": "redacted_thinking", "data": "AAAA=="}),
        TextDelta("I run "),
        TextDelta("it. 漢字"),
        Block({"type": "text", "text": "I run it. 漢字"}),
        ToolUseStart("toolu_1", "Bash"),
        InputDelta('{"command": "ec'),
        InputDelta('ho \\"é🎉\\""'),
        InputDelta("}"),
        ToolUse("toolu_1", "Bash", {"command": 'echo "é🎉"'}),
        ToolUseStart("toolu_2", "Bash"),
        InputDelta("[1, 2"),
        ToolUse("toolu_2", "Bash", {}, raw="[1, 2"),
        ToolUseStart("toolu_3", "Now"),
        ToolUse("toolu_3", "Now", {}),
        Block({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}}),
        Block({"type": "a_block_of_2030", "what": {"deep": [1, None, "ü"]}}),
        Stop("tool_use", usage._replace(output_tokens=99)),
    ]


async def test_the_official_client_builds_the_same_message(serve: Serve) -> None:
    import anthropic

    body = text_answer() + b""
    async with serve(Answer(body)) as server:
        ours = [event.content for event in await ask("wire") if isinstance(event, Block)]
        async with anthropic.AsyncAnthropic(base_url=server.url) as client:
            hello: Any = [{"role": "user", "content": "Hi"}]
            async with client.messages.stream(model="claude-sonnet-5-5", max_tokens=9, messages=hello) as stream:
                theirs = await stream.get_final_message()
    assert ours == [block.to_dict() for block in theirs.content]


@CLIENTS
async def test_both_send_the_same_body_and_a_credential(serve: Serve, client: str) -> None:
    async with serve(Answer(text_answer())) as server:
        await ask(client, thinking="adaptive", stop_sequences=("STOP",), metadata={"user_id": "u", "other": "x"})
    line, headers, _ = server.requests[0]
    assert line.startswith("POST /v1/messages ")
    # The official client sends a key as a bearer's.
    sent = headers.get("x-api-key"), headers.get("authorization")
    assert sent == (("key-of-the-test", None) if client == "wire" else (None, "Bearer key-of-the-test"))
    assert headers["anthropic-version"]
    assert server.body() == {
        "model": "claude-sonnet-5-5",
        "max_tokens": 32_000,
        "stream": True,
        "thinking": {"type": "adaptive", "display": "summarized"},
        "stop_sequences": ["STOP"],
        "metadata": {"user_id": "u"},
        "messages": [{"role": "user", "content": "Hi"}],
    }


@CLIENTS
async def test_a_token_goes_as_bearer_and_custom_headers_along(
    serve: Serve, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-the-test\n")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Team: tools\nX-Colon: a:b\n\n")
    async with serve(Answer(text_answer())) as server:
        await ask(client)
    _, headers, _ = server.requests[0]
    assert headers["authorization"] == "Bearer token-of-the-test"
    assert "x-api-key" not in headers
    assert (headers["x-team"], headers["x-colon"]) == ("tools", "a:b")


@CLIENTS
@pytest.mark.parametrize(
    ("status", "type", "message", "kind", "retriable"),
    [
        (401, "authentication_error", "invalid x-api-key", "authentication_failed", False),
        (403, "permission_error", "no", "authentication_failed", False),
        (400, "invalid_request_error", "messages: required", "invalid_request", False),
        (400, "invalid_request_error", "Your credit balance is too low to go on", "billing_error", False),
        (402, "billing_error", "pay", "billing_error", False),
        (404, "not_found_error", "model: x", "model_not_found", False),
        (429, "rate_limit_error", "slow down", "rate_limit", True),
        (500, "api_error", "oh", "server_error", True),
        (504, "timeout_error", "late", "timeout", True),
        (529, "overloaded_error", "Overloaded", "overloaded", True),
        (503, "an_error_of_2030", "?", "server_error", True),
    ],
)
async def test_an_error_is_explained(
    serve: Serve, client: str, status: int, type: str, message: str, kind: str, retriable: bool
) -> None:
    body = f'{{"type": "error", "error": {{"type": "{type}", "message": "{message}"}}}}'.encode()
    headers = {"content-type": "application/json", "retry-after": "7"}
    async with serve(Answer(body, status, headers)):
        with pytest.raises(ProviderError) as caught:
            await ask(client)
    error = caught.value
    assert (error.kind, error.status, error.retriable, error.retry_after) == (kind, status, retriable, 7.0)
    assert message in str(error)
    assert error.details["type"] == type


@CLIENTS
async def test_an_error_inside_a_stream_ends_it(serve: Serve, client: str) -> None:
    broken = sse(start(), {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    async with serve(Answer(broken)):
        with pytest.raises(ProviderError, match="Overloaded") as caught:
            await ask(client)
    assert (caught.value.kind, caught.value.retriable, caught.value.status) == ("overloaded", True, None)


@CLIENTS
async def test_an_error_with_a_status_of_success_is_that_error(serve: Serve, client: str) -> None:
    body = b'{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}'
    async with serve(Answer(body, 200, {"content-type": "application/json", "retry-after": "7"})):
        with pytest.raises(ProviderError, match="Overloaded") as caught:
            await ask(client)
    assert (caught.value.kind, caught.value.retriable, caught.value.retry_after) == ("overloaded", True, 7.0)


@CLIENTS
@pytest.mark.parametrize("status", [200, 502])
async def test_a_web_page_instead_of_a_stream_is_quoted(serve: Serve, client: str, status: int) -> None:
    page = b"<html><head><title>Log in</title></head><body>Welcome to the\nhotel</body></html>"
    async with serve(Answer(page, status, {"content-type": "text/html"})):
        with pytest.raises(ProviderError, match=r"Welcome to the hotel.*ANTHROPIC_BASE_URL") as caught:
            await ask(client)
    assert caught.value.retriable == (status == 502)


@CLIENTS
@pytest.mark.parametrize(
    "body",
    [
        b"event: message_start\ndata: {not json}\n\n",
        sse(start(), {"type": "content_block_delta", "index": 4, "delta": {"type": "text_delta", "text": "x"}}),
        sse(start()),
        sse(start(), {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        b"",
    ],
    ids=["no JSON", "delta without a block", "only a start", "inside a block", "empty"],
)
async def test_a_stream_that_breaks_the_protocol_is_an_error(serve: Serve, client: str, body: bytes) -> None:
    async with serve(Answer(body)):
        with pytest.raises(ProviderError, match="stream can't be read"):
            await ask(client)


@CLIENTS
async def test_an_answer_whose_end_is_known_needs_no_last_event(serve: Serve, client: str) -> None:
    block = [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "x"}},
        {"type": "content_block_stop", "index": 0},
    ]
    async with serve(Answer(sse(start(), *block, end("end_turn", {"output_tokens": 2})))):
        events = await ask(client)
    assert events[-1] == Stop("end_turn", Usage(10, 2))


@CLIENTS
async def test_an_address_that_nobody_listens_at_is_named(
    monkeypatch: pytest.MonkeyPatch, unused_tcp_port: int, client: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{unused_tcp_port}")
    with pytest.raises(ProviderError, match=f"No connection to http://127.0.0.1:{unused_tcp_port}") as caught:
        await ask(client)
    assert (caught.value.kind, caught.value.retriable) == ("connection", True)


@CLIENTS
async def test_closing_an_answer_closes_its_connection(serve: Serve, client: Any) -> None:
    opening = text_answer().split(b"event: content_block_stop", maxsplit=1)[0]
    async with serve(Answer(opening, hang=True)) as server:
        asked = request()
        stream: Any = Anthropic(client=client).stream(asked)
        assert isinstance(await anext(stream), MessageStart)
        await stream.aclose()
        await server.gone.wait()
        await asked.stash.aclose()


@CLIENTS
async def test_tokens_are_counted_where_the_address_can(serve: Serve, client: Any) -> None:
    json_type = {"content-type": "application/json"}
    async with serve(Answer(b'{"input_tokens": 42}', 200, json_type), Answer(b"no", 404, json_type)) as server:
        asked = request()
        provider = Anthropic(client=client)
        assert await provider.count_tokens(asked) == 42
        assert await provider.count_tokens(asked) is None
        await asked.stash.aclose()
    assert server.requests[0][0].startswith("POST /v1/messages/count_tokens ")
    assert server.body(0) == {
        "model": "claude-sonnet-5-5",
        "thinking": {"type": "adaptive", "display": "summarized"},
        "messages": [{"role": "user", "content": "Hi"}],
    }


@CLIENTS
async def test_an_answer_in_one_piece_gives_the_same_events_but_for_the_deltas(serve: Serve, client: str) -> None:
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": [
            {"type": "thinking", "thinking": "Let me see.", "signature": "EqQB"},
            {"type": "text", "text": "I run it. 漢字"},
            {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "true"}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 10, "output_tokens": 99, "server_tool_use": {"web_search_requests": 2}},
    }
    async with serve(Answer(json.dumps(message).encode(), 200, {"content-type": "application/json"}, cut=9)) as server:
        events = await ask(client, streaming=False)
    assert server.body()["stream"] is False
    used = Usage(10, 99, web_search_requests=2)
    assert events == [
        MessageStart("msg_1", "claude-sonnet-5-5", used),
        ThinkingDelta("Let me see."),
        Block({"type": "thinking", "thinking": "Let me see.", "signature": "EqQB"}),
        TextDelta("I run it. 漢字"),
        Block({"type": "text", "text": "I run it. 漢字"}),
        ToolUseStart("toolu_1", "Bash"),
        ToolUse("toolu_1", "Bash", {"command": "true"}),
        Stop("tool_use", used),
    ]


@CLIENTS
async def test_a_five_megabyte_event_arrives_whole(serve: Serve, client: str) -> None:
    big = "é" * 2_500_000
    async with serve(Answer(text_answer("x").replace(b'"x"', json.dumps(big, ensure_ascii=False).encode()))):
        events = await ask(client)
    assert TextDelta(big) in events


@CLIENTS
async def test_a_wide_window_is_asked_for_beside_the_environments_betas(
    serve: Serve, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BETAS", "one-2026-01-01, two-2026-01-01")
    asked = ModelRequest(model="claude-next-9[1m]", messages=[{"role": "user", "content": "Hi"}])
    provider = Anthropic(client=client, max_retries=0)  # type: ignore[arg-type]
    async with serve(Answer(text_answer())) as server:
        assert [event async for event in provider.stream(asked)]
        await asked.stash.aclose()
    assert server.requests[0][1]["anthropic-beta"] == "one-2026-01-01,two-2026-01-01,context-1m-2025-08-07"
    assert server.body()["model"] == "claude-next-9"


@pytest.fixture(autouse=True, scope="session")
def _sdk_imported() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import anthropic  # noqa: F401
