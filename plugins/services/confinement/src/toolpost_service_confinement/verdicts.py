"""Whether a connection is let out, and to which addresses."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .domains import Address, Domains, address_of, covers, host_of, is_public, names_address

Resolver: TypeAlias = Callable[[str, int], Awaitable[Sequence[Address]]]
Asker: TypeAlias = Callable[[str], Awaitable[str]]


class Refused(Exception):
    """Raised for a connection that is not let out; its text says why."""


async def resolve(host: str, port: int) -> Sequence[Address]:
    """Return a name's addresses. Raises OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    texts = dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found)
    return [address for text in texts if (address := address_of(text)) is not None]


@dataclass(frozen=True)
class Verdicts:
    """Judges connections by the domains in force.

    `ask` is asked about hosts that nothing names, and says why one is not allowed: nothing where it is.

    What a name stands for is looked up here, once, and connected to as it was judged: an allowed name must not lead to
    this machine, its network or its cloud's metadata, unless the address itself is allowed.
    """

    domains: Callable[[], Domains]
    ask: Asker
    resolve: Resolver = resolve

    async def addresses(self, text: str, port: int) -> Sequence[str]:
        """Return the addresses to connect to. Raises Refused, and OSError for a name that has none."""
        host, domains = await self._allowed(text, port)
        return (host,) if address_of(host) is not None else await self._resolved(host, port, domains)

    async def host(self, text: str, port: int) -> str:
        """Return the host as whoever looks it up is to be told: what it leads to is theirs to judge. Raises Refused."""
        return (await self._allowed(text, port))[0]

    async def _allowed(self, text: str, port: int) -> tuple[str, Domains]:
        host = host_of(text)
        if host is None or not 0 < port < 65536:
            raise Refused("it is no host that can be judged")
        domains = self.domains()
        if any(covers(pattern, host) for pattern in domains.denied):
            raise Refused("it is denied")
        literal = address_of(host)
        if literal is not None:
            if not names_address(domains.allowed, literal):
                raise Refused("addresses are only let through where sandbox.network.allowedDomains names them")
            return str(literal), domains
        if not any(covers(pattern, host) for pattern in domains.allowed):
            why = await self.ask(host)
            if why:
                raise Refused(why)
        return host, domains

    async def _resolved(self, host: str, port: int, domains: Domains) -> Sequence[str]:
        found = await self.resolve(host, port)
        if any(names_address(domains.denied, address) for address in found):
            raise Refused("its address is denied")
        good = [str(one) for one in found if is_public(one) or names_address(domains.allowed, one)]
        if found and not good:
            where = ", ".join(map(str, found))
            raise Refused(f"it leads to {where}, which is not on the internet; allow the address to allow this")
        return good
