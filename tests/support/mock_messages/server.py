"""The mock's server: HTTP/1.1 over asyncio streams."""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

from mock_messages.answers import Answer, Failure, Gate, Step, Turn, turn
from mock_messages.cache import CacheUse, PromptCache
from mock_messages.rules import violations
from mock_messages.sse import contents, error_event, events, ping_event, whole


class BrokenRulesError(AssertionError):
    """Raised when a request broke a rule of the real service, or a step of the script failed."""


@dataclass
class Request:
    """One request, and what became of it; times are of the monotonic clock, in seconds."""

    path: str
    headers: Mapping[str, str]
    raw: bytes
    body: dict[str, Any]
    arrived: float
    finished: float = 0.0
    status: int = 0
    cache: CacheUse = field(default_factory=lambda: CacheUse(0, 0, 0))
    disconnected: bool = False

    @property
    def tool_results(self) -> list[dict[str, Any]]:
        """The results of calls in the last message."""
        content = self.body["messages"][-1]["content"]
        return [] if isinstance(content, str) else [block for block in content if block["type"] == "tool_result"]


class Arrival:
    """Says when a request has come; for threads (`wait`) and for asyncio (`until_set`)."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        """Mark it as come."""
        self._event.set()

    def wait(self, seconds: float = 30.0) -> None:
        """Block until it came; raises TimeoutError."""
        if not self._event.wait(seconds):
            raise TimeoutError("the request did not come")

    async def until_set(self, seconds: float = 30.0) -> None:
        """Return once it came; raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while not self._event.is_set():  # noqa: ASYNC110 - another thread, or the peer, ends it
                await asyncio.sleep(0.005)


class MockMessagesApi:
    """Serves a script; see `mock_messages_api`."""

    def __init__(self, script: Sequence[Step]) -> None:
        self.requests: list[Request] = []
        self.counts: list[Request] = []
        self.violations: list[str] = []
        self.url = ""
        self._script = list(script)
        self._cache = PromptCache()
        self._arrivals: dict[int, Arrival] = {}
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def unplayed(self) -> int:
        """The number of steps that no request has asked for."""
        return len(self._script) - len(self.requests)

    def arrival(self, number: int) -> Arrival:
        """Return what says that the request of that number, from 1, has come."""
        arrival = self._arrivals.setdefault(number, Arrival())
        if len(self.requests) >= number:
            arrival.set()
        return arrival

    def take_violations(self) -> list[str]:
        """Return the rules that were broken, and forget them: for a test that expects some."""
        taken, self.violations = self.violations, []
        return taken

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=1 << 26)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for connection in list(self._connections):
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        if kind is None and self.violations:
            raise BrokenRulesError("; ".join(self.violations))

    @contextmanager
    def run_in_thread(self) -> Iterator[Self]:
        """Serve from a thread, for a sync test."""
        ready, stop = threading.Event(), threading.Event()
        failures: list[BaseException] = []

        async def serve() -> None:
            async with self:
                ready.set()
                while not stop.is_set():  # noqa: ASYNC110 - another thread, or the peer, ends it
                    await asyncio.sleep(0.02)

        def run() -> None:
            try:
                asyncio.run(serve())
            except BaseException as error:
                failures.append(error)
            ready.set()

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        ready.wait()
        try:
            yield self
        finally:
            stop.set()
            thread.join()
        if failures:
            raise failures[0]

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while (request := await _read(reader)) is not None:
                if not await self._answer(request, reader, writer):
                    return
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return
        finally:
            self._connections.discard(task)
            writer.close()

    async def _answer(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; returns whether the connection stays open."""
        if request.path.endswith("/count_tokens"):
            self.counts.append(request)
            broken = violations(request.body, counting=True)
            self.violations += broken
            tokens = {"input_tokens": len(request.raw) // 4}
            return await _reply(writer, request, 400 if broken else 200, _error_body(broken) if broken else tokens)
        if not request.path.endswith("/v1/messages"):
            return await _reply(writer, request, 404, _error_body([f"no such path {request.path}"], "not_found_error"))
        self.requests.append(request)
        self.arrival(len(self.requests))
        broken = violations(request.body)
        if broken:
            self.violations += broken
            return await _reply(writer, request, 400, _error_body(broken))
        watch = asyncio.create_task(_gone(reader, request))
        try:
            answer = await self._step(request)
            if isinstance(answer, Failure):
                body = {"type": "error", "error": {"type": answer.type, "message": answer.message}}
                return await _reply(writer, request, answer.status, body, answer.headers)
            return await self._play(answer, request, writer)
        except ConnectionError:
            request.disconnected = True
            raise
        finally:
            watch.cancel()
            request.finished = time.monotonic()

    async def _step(self, request: Request) -> Turn | Failure:
        number = len(self.requests) - 1
        if number >= len(self._script):
            self.violations.append(f"request {number + 1} came, but the script has {len(self._script)} steps")
            return Failure(400, "invalid_request_error", self.violations[-1])
        step = self._script[number]
        try:
            answer: Answer = step(request) if callable(step) else step  # type: ignore[assignment]
            if inspect.isawaitable(answer):
                answer = await answer
        except Exception as error:
            self.violations.append(f"step {number + 1} of the script failed: {error!r}")
            return Failure(400, "invalid_request_error", self.violations[-1])
        return turn(answer) if isinstance(answer, str) else answer

    async def _play(self, answer: Turn, request: Request, writer: asyncio.StreamWriter) -> bool:
        request.cache = self._cache.use(request.body)
        usage = {
            "input_tokens": request.cache.uncached,
            "output_tokens": sum(len(json.dumps(dict(part.value))) // 4 for part in contents(answer)),
            "cache_creation_input_tokens": request.cache.created,
            "cache_read_input_tokens": request.cache.read,
            **answer.usage,
        }
        serial, model = len(self.requests) - 1, request.body["model"]
        await asyncio.sleep(answer.delay)
        if not request.body.get("stream"):
            return await _reply(writer, request, 200, whole(answer, serial, model, usage))
        request.status = 200
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        return await _Stream(writer, answer).send(events(answer, serial, model, usage))


class _Stream:
    """Sends an answer's events, cut as the answer says."""

    def __init__(self, writer: asyncio.StreamWriter, answer: Turn) -> None:
        self._writer = writer
        self._answer = answer
        self._left = answer.limit

    async def send(self, parts: Iterator[Any]) -> bool:
        """Return whether the connection stays open."""
        for part in parts:
            if isinstance(part, bytes):
                if not await self._bytes(part):
                    return False
            elif not await self._act(part.kind, part.value):
                return False
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()
        return True

    async def _act(self, kind: str, value: Any) -> bool:
        match kind:
            case "cut":
                return False
            case "pause" if isinstance(value, Gate):
                value.reached.set()
                while not value.opened:  # noqa: ASYNC110 - another thread, or the peer, ends it
                    await asyncio.sleep(0.002)
            case "pause":
                await asyncio.sleep(value)
            case "ping":
                return await self._bytes(ping_event())
            case "raw":
                return await self._bytes(value)
            case "error":
                await self._bytes(error_event(value))
                return False
        return True

    async def _bytes(self, data: bytes) -> bool:
        whole_event = self._left is None or len(data) <= self._left
        data = data if self._left is None else data[: self._left]
        self._left = None if self._left is None else self._left - len(data)
        size = self._answer.chunk or len(data) or 1
        for at in range(0, len(data), size):
            piece = data[at : at + size]
            self._writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await self._writer.drain()
        return whole_event


async def _gone(reader: asyncio.StreamReader, request: Request) -> None:
    """Notice a client that closes while it is answered."""
    while not reader.at_eof():  # noqa: ASYNC110 - another thread, or the peer, ends it
        await asyncio.sleep(0.005)
    request.disconnected = True


async def _read(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    data = await reader.readexactly(int(headers.get("content-length", "0")))
    path = first.split(" ")[1].split("?")[0]
    return Request(path, headers, data, _decoded(data), time.monotonic())


def _decoded(data: bytes) -> Any:
    """Return the body, or None if it is no JSON, which breaks a rule."""
    try:
        return json.loads(data) if data else {}
    except ValueError:
        return None


async def _reply(
    writer: asyncio.StreamWriter,
    request: Request,
    status: int,
    body: Mapping[str, Any],
    headers: Mapping[str, str] | None = None,
) -> bool:
    data = json.dumps(body).encode()
    extra = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    head = f"HTTP/1.1 {status} Mock\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n{extra}\r\n"
    writer.write(head.encode("latin-1") + data)
    await writer.drain()
    request.status, request.finished = status, time.monotonic()
    return True


def _error_body(broken: Sequence[str], kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": "; ".join(broken)}}
