"""The mock of the Messages API answers the official SDK like the real service, and refuses what that refuses."""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import sys
from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest
from anthropic import Anthropic, APIStatusError, AsyncAnthropic, BadRequestError, RateLimitError
from anthropic.types import Message
from mock_messages_api import (
    BrokenRulesError,
    Gate,
    MockMessagesApi,
    Part,
    Request,
    Step,
    Turn,
    block,
    cut,
    cut_after,
    error,
    pause,
    ping,
    raw,
    redacted_thinking,
    repeat,
    stall,
    stream_error,
    text,
    thinking,
    tool_use,
    turn,
)

T = TypeVar("T")
PROGRAM = Path(__file__).parents[1] / "support" / "mock_messages_api.py"
BASH = {"name": "Bash", "description": "Runs it.", "input_schema": {"type": "object", "properties": {}}}
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
MARK = {"cache_control": {"type": "ephemeral"}}


def body(*messages: Any, **fields: Any) -> dict[str, Any]:
    said = list(messages) or [user("hi")]
    return {"model": "m", "max_tokens": 100, "messages": said, **fields}


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content[0] if len(content) == 1 and isinstance(content[0], str) else [*content]}


def assistant(*content: Any) -> dict[str, Any]:
    return {**user(*content), "role": "assistant"}


def said(value: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **fields}


def call(id: str, input: Any = None) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "Bash", "input": {} if input is None else input}


def result(id: str, content: Any = "ok", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, **fields}


def media(kind: str, media_type: str, data: str) -> dict[str, Any]:
    return {"type": kind, "source": {"type": "base64", "media_type": media_type, "data": data}}


@asynccontextmanager
async def serving(*script: Step, retries: int = 0) -> AsyncIterator[tuple[MockMessagesApi, AsyncAnthropic]]:
    async with (
        asyncio.timeout(20),
        MockMessagesApi(script) as api,
        AsyncAnthropic(api_key="test", base_url=api.url, max_retries=retries) as client,
    ):
        yield api, client


async def stream(client: AsyncAnthropic, *messages: Any, **fields: Any) -> Message:
    async with client.messages.stream(**body(*messages, **fields)) as events:
        return await events.get_final_message()


async def post(api: MockMessagesApi, content: bytes | dict[str, Any], path: str = "/v1/messages") -> httpx2.Response:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    async with httpx2.AsyncClient(base_url=api.url, timeout=10, trust_env=False) as client:
        return await client.post(path, content=data)


async def drain(pieces: AsyncIterable[T], into: list[T]) -> None:
    """Collect what comes; what came before an error is kept."""
    async for piece in pieces:
        into.append(piece)  # noqa: PERF401


def plain(message: Message) -> list[dict[str, Any]]:
    kept = {"type", "text", "thinking", "signature", "data", "id", "name", "input"}
    return [part.model_dump(include=kept, exclude_none=True) for part in message.content]


async def test_text_streams_in_as_many_deltas_as_it_has_pieces() -> None:
    script = turn(text("One two three.", pieces=3))
    async with serving(script) as (api, client), client.messages.stream(**body()) as events:
        deltas = [delta async for delta in events.text_stream]
        message = await events.get_final_message()
    assert len(deltas) == 3
    assert "".join(deltas) == "One two three."
    assert (message.stop_reason, message.role, message.model) == ("end_turn", "assistant", "m")
    assert message.usage.output_tokens > 1
    assert api.unplayed == 0


async def test_a_call_is_answered_with_its_result_in_the_next_request() -> None:
    script: list[Step] = [
        turn("Looking.", tool_use("Bash", {"command": "ls -a"}), tool_use("Bash", id="mine")),
        "Done.",
    ]
    async with serving(*script) as (api, client):
        first = await stream(client, tools=[BASH])
        calls = [part for part in first.content if part.type == "tool_use"]
        answers = user(*(result(part.id, part.name) for part in calls))
        second = await stream(client, user("hi"), assistant(*plain(first)), answers, tools=[BASH])
    assert first.stop_reason == "tool_use"
    assert calls[0].input == {"command": "ls -a"}
    assert [part["tool_use_id"] for part in api.requests[1].tool_results] == [calls[0].id, "mine"]
    assert plain(second) == [said("Done.")]


async def test_thinking_comes_with_its_signature_and_redacted_thinking_with_its_data() -> None:
    async with serving(turn(thinking("Hm. Well.", "c2lnbmVk"), redacted_thinking("b3BhcXVl"), "Yes.")) as (_, client):
        message = await stream(client)
    assert plain(message) == [
        {"type": "thinking", "thinking": "Hm. Well.", "signature": "c2lnbmVk"},
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
        said("Yes."),
    ]


@pytest.mark.parametrize("cuts", [{"chunk": 1}, {"chunk": 7}, {"crlf": True}, {"chunk": 1, "crlf": True}], ids=str)
async def test_a_stream_cut_anywhere_is_the_same_message(cuts: dict[str, Any]) -> None:
    parts: list[Part] = [
        thinking("Grübeln"),
        text("Grüße 🙂\r\n", pieces=4),
        ping(),
        tool_use("Bash", {"command": "echo 'é'"}, "t"),
    ]
    async with serving(turn(*parts), turn(*parts, **cuts)) as (_, client):
        assert plain(await stream(client)) == plain(await stream(client))


async def test_an_answer_comes_whole_to_a_request_that_does_not_stream() -> None:
    answer = turn("Looking.", tool_use("Bash", {"command": "ls"}, "t"), usage={"output_tokens": 7})
    async with serving(answer) as (_, client):
        message = await client.messages.create(**body())
    assert plain(message) == [said("Looking."), call("t", {"command": "ls"})]
    assert (message.stop_reason, message.usage.output_tokens) == ("tool_use", 7)


async def test_a_turn_says_its_own_stop_reason_and_sends_input_that_is_no_json() -> None:
    async with serving(turn(tool_use("Bash", raw_json='{"comm'), stop_reason="max_tokens")) as (api, _):
        sent = (await post(api, body(stream=True))).text
    events = [json.loads(line[6:]) for line in sent.splitlines() if line.startswith("data: ")]
    deltas = [event["delta"] for event in events if "delta" in event]
    assert "".join(delta.get("partial_json", "") for delta in deltas) == '{"comm'
    assert deltas[-1]["stop_reason"] == "max_tokens"


async def test_a_block_of_any_type_and_raw_bytes_are_sent_as_they_are() -> None:
    found = {"type": "web_search_tool_result", "tool_use_id": "srv", "content": []}
    async with serving(turn(block(found), block(said("text")), raw(b": a comment\n\n"))) as (api, _):
        sent = (await post(api, body(stream=True))).content
    assert json.dumps(found).encode() in sent
    assert b": a comment\n\n" in sent


async def test_an_http_error_reaches_the_client_with_its_headers_and_is_asked_again() -> None:
    limited = error(429, "rate_limit_error", "Slow down", {"retry-after": "7"})
    async with serving(limited) as (_, client):
        with pytest.raises(RateLimitError, match="Slow down") as raised:
            await stream(client)
    assert raised.value.response.headers["retry-after"] == "7"
    soon = error(529, "overloaded_error", headers={"retry-after-ms": "1"})
    async with serving(*repeat(soon, 2), "Done.", retries=2) as (api, client):
        assert plain(await stream(client)) == [said("Done.")]
    assert [request.status for request in api.requests] == [529, 529, 200]
    assert api.requests[2].headers["x-stainless-retry-count"] == "2"


async def test_an_error_within_the_stream_ends_it() -> None:
    script = turn("Begun", stream_error("overloaded_error", "Too busy"), "never")
    deltas: list[str] = []
    async with serving(script) as (_, client), client.messages.stream(**body()) as events:
        with pytest.raises(APIStatusError, match="Too busy") as raised:
            await drain(events.text_stream, deltas)
    assert "".join(deltas) == "Begun"
    assert raised.value.type == "overloaded_error"


@pytest.mark.parametrize("broken", [turn("Begun", cut(), "never"), cut_after("Begun", 400)], ids=["cut", "cut_after"])
async def test_a_cut_connection_is_an_error_and_not_a_short_answer(broken: Turn) -> None:
    async with serving(broken, "Done.") as (_, client):
        with pytest.raises(httpx2.RemoteProtocolError):
            await stream(client)
        assert plain(await stream(client)) == [said("Done.")]


async def test_a_stream_is_cut_after_exactly_so_many_bytes() -> None:
    whole = turn(text("Grüße"), chunk=5)
    sizes = range(0, 900, 47)

    async def received(api: MockMessagesApi) -> bytes:
        pieces: list[bytes] = []
        asked = body(stream=True)
        async with (
            httpx2.AsyncClient(base_url=api.url, trust_env=False) as client,
            client.stream("POST", "/v1/messages", json=asked) as response,
        ):
            with suppress(httpx2.RemoteProtocolError):
                await drain(response.aiter_raw(), pieces)
        return b"".join(pieces)

    async with serving(whole, *(cut_after(whole, size) for size in sizes)) as (api, _):
        full = (await received(api)).replace(b"msg_mock0000", b"")
        for size in sizes:
            got = await received(api)
            assert len(got) == min(size, len(full) + len(b"msg_mock0000"))
            assert full.startswith(got[: got.find(b"msg_mock")])


async def test_a_gate_holds_the_stream_until_it_is_opened() -> None:
    gate = Gate()
    script = turn("Before", pause(gate), stall(0.01), "after")
    kinds = []
    async with serving(script) as (api, client), client.messages.stream(**body()) as events:
        async for event in events:
            kinds.append(event.type)
            if event.type == "content_block_stop" and not gate.opened:
                await asyncio.to_thread(gate.reached.wait, 10)
                assert api.requests[0].finished == 0
                gate.open()
        message = await events.get_final_message()
    assert kinds.count("content_block_stop") == 2
    assert plain(message) == [said("Before"), said("after")]


@pytest.mark.parametrize("step", [turn("Begun", pause(Gate())), turn("late", delay=60)], ids=["streaming", "waiting"])
async def test_a_client_that_leaves_while_it_is_answered_is_noticed(step: Turn) -> None:
    asked = json.dumps(body(user("hi"), stream=True)).encode()
    async with serving(step) as (api, _):
        # A plain socket: a client that is cancelled just as an answer begins may keep its connection for a while.
        _reader, writer = await asyncio.open_connection("127.0.0.1", int(api.url.rpartition(":")[2]))
        head = f"POST /v1/messages HTTP/1.1\r\ncontent-length: {len(asked)}\r\n\r\n"
        writer.write(head.encode() + asked)
        await api.arrival(1).until_set()
        assert not api.requests[0].disconnected
        writer.close()
        while not api.requests[0].disconnected:  # noqa: ASYNC110 - the time limit of `serving` bounds it
            await asyncio.sleep(0.005)


async def test_a_step_may_be_a_function_of_the_request() -> None:
    async def later(request: Request) -> str:
        await asyncio.sleep(0)
        return f"{request.headers['authorization']} asked"

    async with serving(lambda request: turn(request.body["messages"][0]["content"]), later) as (api, client):
        assert plain(await stream(client, user("echo"))) == [said("echo")]
        assert api.unplayed == 1
        assert plain(await stream(client)) == [said("Bearer test asked")]


def _fails(request: Request) -> str:
    raise LookupError("no answer to that")


@pytest.mark.parametrize(("script", "says"), [([], "0 steps"), ([_fails], "no answer to that")], ids=["over", "raises"])
async def test_a_request_without_an_answer_fails_the_test(script: Sequence[Step], says: str) -> None:
    async def ask() -> None:
        async with serving(*script) as (_, client):
            with pytest.raises(BadRequestError, match=says):
                await stream(client)

    with pytest.raises(BrokenRulesError, match=says):
        await ask()


async def test_counting_tokens_takes_no_step_of_the_script() -> None:
    async with serving("Done.") as (api, client):
        counted = await client.messages.count_tokens(model="m", messages=[{"role": "user", "content": "hi"}])
        assert counted.input_tokens > 0
        assert (len(api.counts), len(api.requests)) == (1, 0)
        assert (await post(api, b"{}", "/v1/complete")).status_code == 404


RULES: dict[str, tuple[dict[str, Any], str]] = {
    "unknown field": (body(colour="red"), "unknown field 'colour'"),
    "no model": (body(model=""), "model: field required"),
    "no max_tokens": (body(max_tokens=None), "max_tokens: field required"),
    "no messages": (body(messages=[]), "at least one message"),
    "assistant first": (body(assistant("hi")), "first message"),
    "same role twice": (body(user("a"), user("b")), "alternate"),
    "empty content": (body(user("a"), assistant(), user("b")), "content is empty"),
    "empty text": (body(user(said(" \n"))), "non-empty"),
    "empty text in a result": (body(user("a"), assistant(call("1")), user(result("1", [said("")]))), "non-empty"),
    "call without result": (body(user("a"), assistant(call("1")), user("b")), "exactly one tool_result"),
    "call at the end": (body(user("a"), assistant(call("1"))), "have no tool_result"),
    "result without call": (body(user(result("1"))), "exactly one tool_result"),
    "two results": (body(user("a"), assistant(call("1")), user(result("1"), result("1"))), "exactly one tool_result"),
    "result after text": (body(user("a"), assistant(call("1")), user(said("b"), result("1"))), "must come first"),
    "result after image": (
        body(user("a"), assistant(call("1")), user(media("image", "image/png", PNG), result("1"))),
        "must come first",
    ),
    "id twice": (
        body(user("a"), assistant(call("1")), user(result("1")), assistant(call("1")), user(result("1"))),
        "not unique",
    ),
    "input is text": (body(user("a"), assistant(call("1", "ls")), user(result("1"))), "must be an object"),
    "thinking at the end": (
        body(user("a"), assistant({"type": "thinking", "thinking": "Hm", "signature": "s"})),
        "must not end in thinking",
    ),
    "image that is text": (
        body(user(media("image", "image/png", base64.b64encode(b"text").decode()))),
        "not image/png",
    ),
    "image of no kind": (body(user(media("image", "image/bmp", PNG))), "not image/bmp"),
    "broken base64": (body(user(media("image", "image/png", "%%"))), "not base64"),
    "document that is an image": (body(user(media("document", "application/pdf", PNG))), "not application/pdf"),
    "tool's name with a dot": (body(tools=[{**BASH, "name": "a.b"}]), "'a.b' is not allowed"),
    "tool's name with a line end": (body(tools=[{**BASH, "name": "a\n"}]), "is not allowed"),
    "tool's name of 65": (body(tools=[{**BASH, "name": "a" * 65}]), "is not allowed"),
    "same tool twice": (body(tools=[BASH, BASH]), "must be unique"),
    "schema with anyOf": (body(tools=[{**BASH, "input_schema": {"type": "object", "anyOf": []}}]), "without anyOf"),
    "schema of no object": (body(tools=[{**BASH, "input_schema": {"type": "string"}}]), "must be an object"),
    "lone surrogate": (body(user("half \ud83d")), "lone surrogates"),
    "five cache marks": (body(user(*(said(f"{n}", **MARK) for n in range(5)))), "5 blocks have cache_control"),
    "message without role": (body({"content": "hi"}), "malformed"),
    "block without type": (body(user({"text": "hi"})), "malformed"),
}


@pytest.mark.parametrize("rule", RULES)
async def test_a_request_that_breaks_a_rule_is_refused_and_remembered(rule: str) -> None:
    broken, says = RULES[rule]
    async with serving("never") as (api, _):
        answer = await post(api, broken)
        assert says in "; ".join(api.take_violations())
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"
    assert says in answer.json()["error"]["message"]


@pytest.mark.parametrize("data", [b"{", b'{"model": "\xff"}', b"[1]", b"7"], ids=repr)
async def test_a_body_that_is_no_json_object_is_refused(data: bytes) -> None:
    async with serving("never") as (api, _):
        assert (await post(api, data)).status_code == 400
        assert "malformed" in api.take_violations()[0]


async def test_a_request_that_keeps_every_rule_is_answered() -> None:
    pdf = base64.b64encode(b"%PDF-1.7").decode()
    conversation = body(
        user(said("a", **MARK), media("image", "image/png", PNG), media("document", "application/pdf", pdf)),
        assistant({"type": "thinking", "thinking": "Hm", "signature": "s"}, call("1"), call("2")),
        user(result("2", [said("ok"), media("image", "image/png", PNG)]), result("1", "", is_error=True), said("and")),
        assistant("Done."),
        user("🙂 thanks"),
        system=[said("You are.", **MARK)],
        tools=[{**BASH, **MARK}, {"type": "web_search_20250305", "name": "web_search"}],
        stream=False,
    )
    async with serving("Done.") as (api, _):
        assert (await post(api, conversation)).status_code == 200


async def test_a_mark_reads_what_an_earlier_request_wrote() -> None:
    system = [said("s" * 4000, **MARK)]
    first = user(said("f" * 400, **MARK))
    grown = [user(said("f" * 400)), assistant("Done."), user(said("more", **MARK))]
    async with serving(*repeat("Done.", 3)) as (api, client):
        usage = (await stream(client, first, system=system)).usage
        await stream(client, *grown, system=system)
        await stream(client, *grown)
    wrote, read, other = (request.cache for request in api.requests)
    assert (wrote.read, wrote.uncached) == (0, 0)
    assert wrote.created > 1100
    assert (usage.cache_creation_input_tokens, usage.cache_read_input_tokens) == (wrote.created, 0)
    assert read.read == wrote.created
    assert 0 < read.created < 100
    assert other.read == 0


@pytest.mark.parametrize(("blocks", "reads"), [(19, True), (20, False)])
async def test_a_mark_looks_back_twenty_blocks_and_no_further(blocks: int, reads: bool) -> None:
    added = [said(f"{number}") for number in range(blocks)]
    last = user(*added[:-1], {**added[-1], **MARK})
    async with serving(*repeat("Done.", 2)) as (api, client):
        await stream(client, user(said("a" * 400, **MARK)))
        await stream(client, user(said("a" * 400)), assistant("Done."), last)
    assert (api.requests[1].cache.read > 0) is reads


async def test_what_is_not_marked_is_neither_read_nor_written() -> None:
    async with serving(*repeat("Done.", 2)) as (api, client):
        for _ in range(2):
            await stream(client, user("a" * 400))
    assert all(request.cache[:2] == (0, 0) and request.cache.uncached > 100 for request in api.requests)


def test_a_sync_test_is_served_from_a_thread() -> None:
    gate = Gate()
    script: list[Step] = [turn("Before", pause(gate), "after"), "Done."]
    with MockMessagesApi(script).run_in_thread() as api, Anthropic(api_key="test", base_url=api.url) as client:
        with client.messages.stream(**body()) as events:
            api.arrival(1).wait()
            assert gate.reached.wait(10)
            gate.open()
            assert plain(events.get_final_message()) == [said("Before"), said("after")]
        assert plain(client.messages.create(**body())) == [said("Done.")]
    assert [request.status for request in api.requests] == [200, 200]


def test_a_broken_rule_fails_the_test_unless_that_fails_by_itself() -> None:
    def leave(ask: Callable[[str], Any]) -> None:
        with MockMessagesApi(["Done."]).run_in_thread() as api:
            ask(api.url)

    with pytest.raises(BrokenRulesError, match="unknown field"):
        leave(lambda url: httpx2.post(f"{url}/v1/messages", json=body(colour="red"), trust_env=False))
    with pytest.raises(ZeroDivisionError):
        leave(lambda url: 1 // 0)


def test_the_program_serves_a_script_from_a_file(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([[said("Looking."), call("t", {"command": "ls"})], "Done."]), encoding="utf-8")
    with subprocess.Popen([sys.executable, str(PROGRAM), str(script)], stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        try:
            label, port = program.stdout.readline().split()
            assert label == "PORT"
            with Anthropic(api_key="test", base_url=f"http://127.0.0.1:{port}") as client:
                answers = [plain(client.messages.create(**body())) for _ in range(2)]
        finally:
            program.terminate()
    assert answers == [[said("Looking."), call("t", {"command": "ls"})], [said("Done.")]]
