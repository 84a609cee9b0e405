"""Proxies of a person's own on this machine, which carry what the gateway lets out: `sandbox.network.*ProxyPort`."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from .domains import address_of

if TYPE_CHECKING:
    from .asked import Asked

Streams: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]

_LIMIT: Final = 65536
_SOCKS_GREETING: Final = b"\x05\x01\x00"
_SOCKS_BOUND: Final = {1: 4, 4: 16}
_SOCKS_IPV4, _SOCKS_NAME, _SOCKS_IPV6 = 1, 3, 4


@dataclass(frozen=True)
class Proxies:
    """Their ports. Each carries what came by its own protocol, and the rest as well where the other is missing."""

    http: int | None = None
    socks: int | None = None

    @classmethod
    def of(cls, network: Mapping[str, Any]) -> Proxies:
        """Read `sandbox.network`."""
        return cls(_port(network.get("httpProxyPort")), _port(network.get("socksProxyPort")))

    def __bool__(self) -> bool:
        return self.http is not None or self.socks is not None

    async def connect(self, asked: Asked, host: str) -> tuple[Streams, bytes]:
        """Connect to a host by one of them; return what its end is told first, too. Raises OSError, EOFError, ValueError."""
        if self.http is not None and (self.socks is None or not asked.by_socks):
            streams = await _opened(self.http)
            if asked.whole:
                return streams, asked.whole
            await _tunnel(streams, self.http, host, asked.port)
        else:
            assert self.socks is not None
            streams = await _opened(self.socks)
            await _greet(streams, self.socks, host, asked.port)
        return streams, asked.onward


def _port(value: Any) -> int | None:
    return value if type(value) is int and 0 < value < 65536 else None


async def _opened(port: int) -> Streams:
    try:
        return await asyncio.open_connection("127.0.0.1", port, limit=_LIMIT)
    except OSError as error:
        raise OSError(
            error.errno, f"no proxy listens at port {port} of this machine, which sandbox.network names"
        ) from None


async def _tunnel(streams: Streams, port: int, host: str, target: int) -> None:
    """Ask an HTTP proxy for a tunnel (RFC 9110, section 9.3.6)."""
    reader, writer = streams
    place = f"[{host}]:{target}" if ":" in host else f"{host}:{target}"
    try:
        writer.write(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
        status = (await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")[0].decode("latin-1")
        if not status.partition(" ")[2].startswith("2"):
            raise OSError(f"the proxy at port {port} says {status!r}")
    except BaseException:
        writer.close()
        raise


async def _greet(streams: Streams, port: int, host: str, target: int) -> None:
    """Ask a SOCKS proxy for a connection (RFC 1928)."""
    reader, writer = streams
    try:
        writer.write(_SOCKS_GREETING)
        if await reader.readexactly(2) != b"\x05\x00":
            raise OSError(f"the proxy at port {port} wants to know who asks, or knows another SOCKS than 5")
        writer.write(b"\x05\x01\x00" + _named(host) + target.to_bytes(2, "big"))
        _, status, _, kind = await reader.readexactly(4)
        bound = _SOCKS_BOUND.get(kind) or (await reader.readexactly(1))[0]
        await reader.readexactly(bound + 2)
        if status:
            raise OSError(f"the proxy at port {port} refuses with the code {status}")
    except BaseException:
        writer.close()
        raise


def _named(host: str) -> bytes:
    address = address_of(host)
    if address is None:
        return bytes((_SOCKS_NAME, len(host))) + host.encode("ascii")
    return bytes((_SOCKS_IPV4 if isinstance(address, ipaddress.IPv4Address) else _SOCKS_IPV6,)) + address.packed
