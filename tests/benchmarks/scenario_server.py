"""A model that plays one scenario over loopback, for timing: standard library only, a process of its own.

    python scenario_server.py hello | turns N | open SECONDS

It prints `PORT n`, serves until its standard input ends, then prints one JSON line for each request, in the order of
their arrival. What to answer is the number of requests so far: the conversation is not parsed, so that a long one costs
the server what a short one does. `first_byte`, `arrived` and `sent` (the last byte of the answer) are of the monotonic
clock, which the processes of one machine share; `block_ended` is of the wall clock, which a tool can print.
"""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

_BASH = re.compile(rb'"name":\s*"(bash)"', re.IGNORECASE)
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_END = b"0\r\n\r\n"
_BEAT = 0.25


class Scenario:
    """What the model says; `amount` is a number of turns or of seconds."""

    def __init__(self, name: str, amount: float = 0.0) -> None:
        self._name = name
        self._amount = amount
        self._tool = "Bash"

    def parts(self, turn: int, request: bytes) -> Iterator[bytes | float]:
        """Yield the answer to a request: bytes to send, and seconds to wait."""
        if turn == 0 and (named := _BASH.search(request)):
            self._tool = named[1].decode()
        if self._name == "turns" and turn < self._amount:
            yield _start() + self._call(turn, f"true {turn}") + _stop("tool_use")
        elif self._name == "open" and turn == 0:
            yield _start() + self._call(turn, "date +%s.%N > started")
            yield from self._tail()
        else:
            yield _start() + _text(0, "Done.") + _stop("end_turn")

    def _call(self, turn: int, command: str) -> bytes:
        call = {"type": "tool_use", "id": f"toolu_{turn:06d}", "name": self._tool, "input": {}}
        given = {"type": "input_json_delta", "partial_json": json.dumps({"command": command, "description": "Step"})}
        return (
            _event("content_block_start", index=0, content_block=call)
            + _event("content_block_delta", index=0, delta=given)
            + _event("content_block_stop", index=0)
        )

    def _tail(self) -> Iterator[bytes | float]:
        for number in range(1, int(self._amount / _BEAT) + 1):
            yield _BEAT
            yield _text(number, "And on.")
        yield _stop("tool_use")


class Server:
    """Answers each connection in a thread, and keeps what it saw."""

    def __init__(self, scenario: Scenario) -> None:
        self.records: list[dict[str, Any]] = []
        self._scenario = scenario
        self._turns = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._socket.getsockname()[1])

    def start(self) -> None:
        """Accept connections, in a thread."""
        threading.Thread(target=self._accept, daemon=True).start()

    def finish(self) -> None:
        """Wait until the open connections are answered; their client has ended."""
        for thread in self._threads:
            thread.join(5)

    def _accept(self) -> None:
        while True:
            connection, _ = self._socket.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                while self._answer(connection):
                    pass
            except ConnectionError:
                return

    def _answer(self, connection: socket.socket) -> bool:
        data = connection.recv(1 << 18)
        record: dict[str, Any] = {"first_byte": time.monotonic()}
        while b"\r\n\r\n" not in data:
            if not (more := connection.recv(1 << 18)):
                return False
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        body = _rest(connection, body, _content_length(head))
        path = head.split(b" ", 2)[1].decode("latin-1")
        asks = path.partition("?")[0] == "/v1/messages" and b'"tools"' in body
        record |= {"arrived": time.monotonic(), "path": path, "bytes": len(body), "asks": asks}
        self.records.append(record)
        turn, self._turns = (self._turns, self._turns + 1) if asks else (-1, self._turns)
        self._send(connection, turn, body, record)
        record["sent"] = time.monotonic()
        return True

    def _send(self, connection: socket.socket, turn: int, body: bytes, record: dict[str, Any]) -> None:
        ready = _HEAD
        for part in self._scenario.parts(turn, body):
            if isinstance(part, bytes):
                ready += b"%x\r\n%s\r\n" % (len(part), part)
                continue
            connection.sendall(ready)
            ready = b""
            record.setdefault("block_ended", time.time())
            time.sleep(part)
        connection.sendall(ready + _END)


def _content_length(head: bytes) -> int:
    found = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
    return int(found[1]) if found else 0


def _rest(connection: socket.socket, body: bytes, size: int) -> bytes:
    pieces, have = [body], len(body)
    while have < size:
        piece = connection.recv(1 << 18)
        if not piece:
            raise ConnectionResetError("the request was cut")
        pieces.append(piece)
        have += len(piece)
    return b"".join(pieces)


def _start() -> bytes:
    message = {"id": "msg_benchmark", "type": "message", "role": "assistant", "model": "benchmark", "content": []}
    usage = {"input_tokens": 10, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    return _event("message_start", message={**message, "stop_reason": None, "stop_sequence": None, "usage": usage})


def _text(index: int, text: str) -> bytes:
    return (
        _event("content_block_start", index=index, content_block={"type": "text", "text": ""})
        + _event("content_block_delta", index=index, delta={"type": "text_delta", "text": text})
        + _event("content_block_stop", index=index)
    )


def _stop(reason: str) -> bytes:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return _event("message_delta", delta=delta, usage={"output_tokens": 10}) + _event("message_stop")


def _event(kind: str, **data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


if __name__ == "__main__":
    server = Server(Scenario(sys.argv[1], *map(float, sys.argv[2:])))
    server.start()
    print("PORT", server.port, flush=True)
    sys.stdin.read()
    server.finish()
    for seen in server.records:
        print(json.dumps(seen))
