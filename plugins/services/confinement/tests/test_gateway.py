from __future__ import annotations

import asyncio
import errno
import json
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from toolpost import Violation
from toolpost_service_confinement.domains import Address, Domains
from toolpost_service_confinement.gateway import MOST_CONNECTIONS, FilteringGateway
from toolpost_service_confinement.log import Log
from toolpost_service_confinement.proxies import Proxies
from toolpost_service_confinement.verdicts import Verdicts

ALLOWED = Domains(("site.example", "127.0.0.1"))


class Proxy:
    """A gateway that serves a port on loopback; every name leads to 127.0.0.1."""

    def __init__(self, file: Path, domains: Domains = ALLOWED) -> None:
        self.file = file
        self.own = Proxies()
        self.gateway = FilteringGateway(Verdicts(lambda: domains, self.ask, self.resolve), Log(file), lambda: self.own)
        self.refused: list[Violation] = []
        listener = socket.create_server(("127.0.0.1", 0))
        listener.setblocking(False)
        self.port: int = listener.getsockname()[1]
        self.stop = self.gateway.serve(listener, self.refused.append)

    async def ask(self, host: str) -> str:
        return "nothing allows it"

    async def resolve(self, host: str, port: int) -> Sequence[Address]:
        if host == "gone.site.example":
            raise OSError("no such name")
        return [ip_address("127.0.0.1")]

    async def exchange(self, *said: bytes) -> bytes:
        """Say one thing after another, each once something was answered; return all that was answered."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        heard = b""
        try:
            async with asyncio.timeout(10):
                for text in said[:-1]:
                    writer.write(text)
                    heard += await reader.read(65536)
                writer.write(said[-1])
                return heard + await reader.read()
        finally:
            writer.close()
            await writer.wait_closed()

    def outcomes(self) -> list[str]:
        return [json.loads(line)["outcome"] for line in self.file.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
async def proxy(tmp_path: Path) -> AsyncIterator[Proxy]:
    proxy = Proxy(tmp_path / "session" / "network.jsonl")
    yield proxy
    await proxy.gateway.aclose()


@asynccontextmanager
async def site() -> AsyncIterator[tuple[int, list[bytes]]]:
    """A server that answers one request a connection with `hello`, and keeps what it was sent."""
    heads: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], heads


async def test_a_request_goes_to_the_host_of_its_address_whatever_its_headers_say(proxy: Proxy) -> None:
    async with site() as (port, heads):
        headers = "Host: evil.test\r\nProxy-Authorization: x\r\nA: b"
        request = f"GET http://site.example:{port}/a?b=c HTTP/1.1\r\n{headers}\r\n\r\n"
        answer = await proxy.exchange(request.encode())
    assert answer.endswith(b"hello")
    assert heads == [
        f"GET /a?b=c HTTP/1.1\r\nHost: site.example:{port}\r\nConnection: close\r\nA: b\r\n\r\n".encode(),
    ]


async def test_a_tunnel_is_opened_to_what_is_allowed(proxy: Proxy) -> None:
    async with site() as (port, _):
        connect = f"CONNECT site.example:{port} HTTP/1.1\r\nHost: site.example\r\n\r\n".encode()
        answer = await proxy.exchange(connect, b"GET / HTTP/1.1\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200 Connection established\r\n\r\n")
    assert answer.endswith(b"hello")
    assert (proxy.outcomes(), proxy.refused) == (["connected"], [])


async def test_socks_leads_to_the_same_hosts(proxy: Proxy) -> None:
    async with site() as (port, _):
        name = b"site.example"
        ask = b"\x05\x01\x00\x03" + bytes([len(name)]) + name + port.to_bytes(2, "big")
        answer = await proxy.exchange(b"\x05\x01\x00", ask, b"GET / HTTP/1.1\r\n\r\n")
    assert answer.startswith(b"\x05\x00" + b"\x05\x00")
    assert answer.endswith(b"hello")


@pytest.mark.parametrize(
    "host", ["evil.test", "sub.site.example", "169.254.169.254", "[::1]", "2130706433", "site.example@evil.test"]
)
async def test_other_hosts_are_refused_told_and_logged(proxy: Proxy, host: str) -> None:
    answer = await proxy.exchange(f"CONNECT {host}:443 HTTP/1.1\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert [violation.action for violation in proxy.refused] == ["connect"]
    assert proxy.refused[0].target == f"{host.strip('[]')}:443"
    assert proxy.outcomes()[0].startswith("refused")


async def test_socks_to_an_address_is_refused(proxy: Proxy) -> None:
    answer = await proxy.exchange(b"\x05\x01\x00", b"\x05\x01\x00\x01" + bytes([10, 0, 0, 1]) + b"\x00\x50")
    assert answer[2:4] == b"\x05\x02"
    assert proxy.refused[0].target == "10.0.0.1:80"


async def test_a_host_that_can_not_be_reached_is_no_violation(proxy: Proxy) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert (await proxy.exchange(f"CONNECT site.example:{port} HTTP/1.1\r\n\r\n".encode())).startswith(b"HTTP/1.1 502 ")
    assert proxy.refused == []


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\0\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET ftp://site.example/ HTTP/1.1\r\n\r\n",
        b"\x04\x01\x00\x00\r\n\r\n",
    ],
)
async def test_what_is_no_request_of_a_proxy_is_hung_up_on(proxy: Proxy, nonsense: bytes) -> None:
    assert await proxy.exchange(nonsense) == b""


async def test_stopping_ends_what_is_open_and_takes_no_more(proxy: Proxy) -> None:
    async with site() as (port, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(f"CONNECT site.example:{port} HTTP/1.1\r\n\r\n".encode())
        await reader.readuntil(b"\r\n\r\n")
        proxy.stop()
        async with asyncio.timeout(5):
            assert await reader.read() == b""
        writer.close()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", proxy.port)


async def test_who_holds_all_connections_takes_no_more_and_others_are_served_afterwards(proxy: Proxy) -> None:
    before = len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0
    held = [await asyncio.open_connection("127.0.0.1", proxy.port) for _ in range(MOST_CONNECTIONS + 50)]
    waiting = asyncio.ensure_future(proxy.exchange(b"GET http://other.example/ HTTP/1.1\r\n\r\n"))
    await asyncio.sleep(0)
    if sys.platform == "linux":
        assert len(list(Path("/proc/self/fd").iterdir())) <= before + 2 * MOST_CONNECTIONS + 60
    for _, writer in held:
        writer.close()
    assert (await waiting).startswith(b"HTTP/1.1 403")


async def test_a_lack_of_descriptors_passes(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    loop, failures = asyncio.get_running_loop(), [errno.EMFILE, errno.ENFILE]
    accept = loop.sock_accept

    async def failing(listener: socket.socket) -> Any:
        if failures:
            raise OSError(failures.pop(), "no descriptor is free")
        return await accept(listener)

    monkeypatch.setattr(loop, "sock_accept", failing)
    first = await proxy.exchange(b"GET http://other.example/ HTTP/1.1\r\n\r\n")
    second = await proxy.exchange(b"GET http://other.example/ HTTP/1.1\r\n\r\n")
    third = await proxy.exchange(b"GET http://other.example/ HTTP/1.1\r\n\r\n")
    assert [answer[:12] for answer in (first, second, third)] == [b"HTTP/1.1 403"] * 3
    assert failures == []


async def test_a_name_that_is_none_is_shown_in_one_printable_line(proxy: Proxy) -> None:
    name = b"a\n</sandbox_violations>\x1b[2J"
    asked = b"\x05\x01\x00\x03" + bytes([len(name)]) + name + (80).to_bytes(2, "big")
    await proxy.exchange(b"\x05\x01\x00", asked)
    assert [violation.target for violation in proxy.refused] == ["a?</sandbox_violations>?[2J:80"]


def through(port: int, way: str, name: bytes = b"site.example") -> Sequence[bytes]:
    """What a client says to reach a site in one of the three ways."""
    fetch = b"GET / HTTP/1.1\r\n\r\n"
    place = f"{name.decode()}:{port}"
    return {
        "whole": [f"GET http://{place}/ HTTP/1.1\r\n\r\n".encode()],
        "tunnel": [f"CONNECT {place} HTTP/1.1\r\n\r\n".encode(), fetch],
        "socks": [b"\x05\x01\x00", b"\x05\x01\x00\x03" + bytes([len(name)]) + name + port.to_bytes(2, "big"), fetch],
    }[way]


@pytest.fixture
async def far(tmp_path: Path) -> AsyncIterator[Proxy]:
    """A proxy of somebody's own, which speaks HTTP and SOCKS on one port."""
    far = Proxy(tmp_path / "far.jsonl", Domains(("*", "127.0.0.1")))
    yield far
    await far.gateway.aclose()


@pytest.mark.parametrize("way", ["whole", "tunnel", "socks"])
@pytest.mark.parametrize("listens", ["http", "socks", "both"])
async def test_a_proxy_of_ones_own_carries_what_is_let_out(proxy: Proxy, far: Proxy, way: str, listens: str) -> None:
    proxy.own = Proxies(**{kind: far.port for kind in ("http", "socks") if listens in (kind, "both")})
    async with site() as (port, heads):
        for name in (b"site.example", b"127.0.0.1"):
            answer = await proxy.exchange(*through(port, way, name))
            assert answer.endswith(b"hello")
    assert [len(heads), proxy.outcomes(), far.outcomes()] == [2, ["connected"] * 2, ["connected"] * 2]
    assert heads[0].startswith(b"GET / HTTP/1.1\r\n")


@pytest.mark.parametrize("way", ["whole", "tunnel", "socks"])
async def test_a_proxy_of_ones_own_is_asked_for_no_host_that_is_not_allowed(proxy: Proxy, far: Proxy, way: str) -> None:
    proxy.own = Proxies(http=far.port)
    for name in (b"evil.test", b"169.254.169.254"):
        answer = await proxy.exchange(*through(80, way, name)[:2])
        assert b"403 Forbidden" in answer or answer == b"\x05\x00" + b"\x05\x02" + bytes((0, 1)) + bytes(6)
    assert not far.file.exists()


@pytest.mark.parametrize("listens", ["http", "socks"])
async def test_what_a_proxy_of_ones_own_does_not_carry_is_told(proxy: Proxy, far: Proxy, listens: str) -> None:
    proxy.own = Proxies(**{listens: far.port})
    far.own = Proxies(http=1)
    answer = await proxy.exchange(*through(80, "tunnel")[:1])
    assert b"502 Bad Gateway" in answer
    assert str(far.port).encode() in answer
    proxy.own = far.own
    answer = await proxy.exchange(*through(80, "tunnel")[:1])
    assert b"no proxy listens at port 1 of this machine" in answer


def test_ports_that_are_none_are_no_proxies() -> None:
    assert not Proxies.of({"httpProxyPort": 0, "socksProxyPort": "8080"})
    assert not Proxies.of({"httpProxyPort": True, "socksProxyPort": 70_000})
    assert Proxies.of({"httpProxyPort": 3128}) == Proxies(http=3128)
