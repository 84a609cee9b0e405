"""A server on loopback that answers hooks as a test wants it."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class HookServer(ThreadingHTTPServer):
    """Answers by path: `answers` maps a path to status, headers and body. `/slow` never answers."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {
            "/ok": (200, {}, b""),
            "/block": (200, {}, b'{"decision": "block", "reason": "not today"}'),
            "/broken": (500, {}, b"out of order"),
        }
        self.received: list[tuple[str, dict[str, str], Any]] = []
        self.over = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: HookServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.received.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        if self.path == "/slow":
            self.server.over.wait(30)
            return
        status, headers, answer = self.server.answers[self.path]
        self.send_response(status)
        for name, value in {"content-length": str(len(answer)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None: ...
