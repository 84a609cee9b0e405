"""A loopback server that answers with recorded bytes, cut as a test wants them."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

SSE: Mapping[str, str] = {"content-type": "text/event-stream; charset=utf-8"}


@dataclass(frozen=True)
class Answer:
    """`cut` is the size of the pieces that the body is sent in, with a `pause` of seconds after each; after its last byte
    it may `hang` or `drop`. One that is `mute` never begins.
    """

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: SSE)
    cut: int = 0
    pause: float = 0.0
    hang: bool = False
    drop: bool = False
    mute: bool = False


@dataclass
class Server:
    """Gives each request the next answer, the last one again and again."""

    answers: list[Answer]
    url: str = ""
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    connections: int = 0
    open: list[tuple[asyncio.StreamWriter, asyncio.Task[None] | None]] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the client has closed a connection."""

    def body(self, index: int = -1) -> Any:
        return json.loads(self.requests[index][2])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open.append((writer, asyncio.current_task()))
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                first, *lines = head.decode("latin-1").strip().split("\r\n")
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                self.requests.append((first, headers, body))
                self.asked.set()
                await self._answer(self.answers.pop(0) if len(self.answers) > 1 else self.answers[0], reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.gone.set()
        finally:
            writer.close()

    async def _answer(self, answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if answer.mute:
            await self._until_gone(reader)
        headers = {**answer.headers, "transfer-encoding": "chunked"}
        head = f"HTTP/1.1 {answer.status} X\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(head.encode() + b"\r\n")
        size = answer.cut or len(answer.body) or 1
        for start in range(0, len(answer.body), size):
            piece = answer.body[start : start + size]
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await writer.drain()
            if answer.pause:
                await asyncio.sleep(answer.pause)
        if answer.drop:
            raise ConnectionError
        if answer.hang:
            await self._until_gone(reader)
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    async def _until_gone(self, reader: asyncio.StreamReader) -> None:
        await reader.read()
        self.gone.set()
        raise ConnectionError


Serve = Callable[..., AbstractAsyncContextManager[Server]]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Serve answers, with the environment pointed at the server."""

    @asynccontextmanager
    async def served(*answers: Answer) -> AsyncIterator[Server]:
        server = Server(list(answers))
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=1 << 26)
        server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        try:
            yield server
        finally:
            listening.close()
            for writer, task in server.open:
                writer.close()
                if task is not None:
                    await task

    return served


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key, and nothing else of the machine's own."""
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "TOOLPOST_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-test")


def sse(*events: Mapping[str, Any]) -> bytes:
    return b"".join(
        f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode() for event in events
    )


def text_answer(text: str = "Hello, wörld 🎉", usage: Mapping[str, Any] | None = None) -> bytes:
    """A plain answer."""
    return sse(
        start(),
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": c}} for c in text),
        {"type": "content_block_stop", "index": 0},
        end("end_turn", usage or {"output_tokens": 7}),
        {"type": "message_stop"},
    )


def start(**usage: Any) -> dict[str, Any]:
    return {
        "type": "message_start",
        "message": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-5-5",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 1, **usage},
        },
    }


def end(reason: str, usage: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": dict(usage)}


def rich_answer() -> bytes:
    """Every kind of block that an answer can have, and what is passed over."""
    calls = ['{"command": "ec', 'ho \\"é🎉\\""', "}"]
    deltas = [
        (0, {"type": "thinking", "thinking": "", "signature": ""}, [("thinking_delta", "thinking", "Let me sé"),
            ("thinking_delta", "thinking", "e.\r\n\u2028"), ("signature_delta", "signature", "EqQB/+=="),
            ("signature_delta", "signature", "xyz")]),
        (1, {"type": "redacted_thinking", "data": "AAAA=="}, []),
        (2, {"type": "text", "text": ""}, [("text_delta", "text", "I run "), ("text_delta", "text", "it. 漢字")]),
        (3, {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}},
            [("input_json_delta", "partial_json", part) for part in ("", *calls)]),
        (4, {"type": "tool_use", "id": "toolu_2", "name": "Bash", "input": {}},
            [("input_json_delta", "partial_json", "[1, 2")]),
        (5, {"type": "tool_use", "id": "toolu_3", "name": "Now", "input": {}}, []),
        (6, {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}},
            [("input_json_delta", "partial_json", '{"query": "x"}')]),
        (7, {"type": "a_block_of_2030", "what": {"deep": [1, None, "ü"]}}, []),
    ]  # fmt: skip
    events: list[dict[str, Any]] = [
        start(
            cache_creation_input_tokens=5, cache_read_input_tokens=300, cache_creation={"ephemeral_1h_input_tokens": 2}
        ),
        {"type": "ping"},
    ]
    for index, block, parts in deltas:
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [
            {"type": "content_block_delta", "index": index, "delta": {"type": kind, name: value}}
            for kind, name, value in parts
        ]
        events.append({"type": "content_block_stop", "index": index})
    events += [end("tool_use", {"output_tokens": 99, "input_tokens": None}), {"type": "message_stop"}]
    return sse(*events)
