"""SOCKS 5 (RFC 1928), without authentication and only to connect."""

from __future__ import annotations

import asyncio
import ipaddress
from typing import Final

from .asked import Asked

VERSION: Final = b"\x05"
_NO_AUTHENTICATION = b"\x05\x00"
_CONNECT = 1
_IPV4, _NAME, _IPV6 = 1, 3, 4
_SUCCEEDED, _NOT_ALLOWED, _UNREACHABLE = 0, 2, 4


async def read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Asked:
    """Greet and read what is asked for, the version having been read. Raises ValueError, EOFError."""
    methods = await reader.readexactly((await reader.readexactly(1))[0])
    if 0 not in methods:
        writer.write(b"\x05\xff")
        raise ValueError("it wants to authenticate")
    writer.write(_NO_AUTHENTICATION)
    version, command, _, kind = await reader.readexactly(4)
    if version != VERSION[0] or command != _CONNECT:
        writer.write(_reply(7))
        raise ValueError(f"command {command}")
    host = await _host(reader, kind)
    port = int.from_bytes(await reader.readexactly(2), "big")
    return Asked(
        host,
        port,
        _reply(_SUCCEEDED),
        b"",
        lambda _: _reply(_NOT_ALLOWED),
        lambda _: _reply(_UNREACHABLE),
        by_socks=True,
    )


async def _host(reader: asyncio.StreamReader, kind: int) -> str:
    if kind == _NAME:
        return (await reader.readexactly((await reader.readexactly(1))[0])).decode("latin-1")
    if kind in (_IPV4, _IPV6):
        return str(ipaddress.ip_address(await reader.readexactly(4 if kind == _IPV4 else 16)))
    raise ValueError(f"address of kind {kind}")


def _reply(status: int) -> bytes:
    return bytes((5, status, 0, _IPV4)) + bytes(6)
