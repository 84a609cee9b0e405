"""Requests to an HTTP proxy: CONNECT, and whole addresses."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

from .asked import Asked

_BETWEEN = (
    b"connection:",
    b"proxy-connection:",
    b"proxy-authorization:",
    b"keep-alive:",
    b"host:",
    b"te:",
    b"upgrade:",
)
"""Headers that are between the client and us, or that we write ourselves."""


async def read(reader: asyncio.StreamReader, first: bytes) -> Asked:
    """Read a request's head. Raises ValueError for what is none, EOFError and LimitOverrunError."""
    head = first + await reader.readuntil(b"\r\n\r\n")
    line, *headers = head[:-4].split(b"\r\n")
    method, target, version = line.decode("latin-1").split(" ")
    if not version.startswith("HTTP/1."):
        raise ValueError(version)
    if method == "CONNECT":
        host, _, port = target.rpartition(":")
        return Asked(
            host.strip("[]"), int(port), b"HTTP/1.1 200 Connection established\r\n\r\n", b"", _refusal, _failure
        )
    url = urlsplit(target)
    if url.scheme != "http" or not url.hostname:
        raise ValueError(target)
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    # As it was understood, and not as it was written: who gets it must not read another host from it.
    named = (f"[{url.hostname}]" if ":" in url.hostname else url.hostname) + (f":{url.port}" if url.port else "")
    kept = [header for header in headers if not header.lower().startswith(_BETWEEN)]
    # One request a connection: the next one may be for another host.
    between = [f"Host: {named}".encode("latin-1"), b"Connection: close"]
    onward, whole = (
        b"\r\n".join([f"{method} {place} HTTP/1.1".encode("latin-1"), *between, *kept, b"", b""])
        for place in (path, f"http://{named}{path}")
    )
    return Asked(url.hostname, url.port or 80, b"", onward, _refusal, _failure, whole)


def _refusal(text: str) -> bytes:
    return _response("403 Forbidden", text)


def _failure(text: str) -> bytes:
    return _response("502 Bad Gateway", text)


def _response(status: str, text: str) -> bytes:
    body = (text + "\n").encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"Connection: close\r\n\r\n" + body
