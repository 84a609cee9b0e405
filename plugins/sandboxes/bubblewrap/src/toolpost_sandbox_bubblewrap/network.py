"""Networks of commands: a namespace with a loopback of its own, entered by each command, and a gateway at a port in it.

A socket that was made in a namespace is served from outside like any other. So a small program makes one there, hands it out
together with the namespace, and ends: commands need neither a relay nor a program of ours inside.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from toolpost import StashKey, ToolFailed

from .environment import BARE
from .programs import found

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from toolpost import Gateway, Stash, Violation

PORT: Final = 47128
"""Where the gateway is found inside."""
_OWNER: Final = 0xB701  # NS_GET_USERNS
_SECONDS: Final = 10.0

# An interpreter without `site` and with the C modules alone starts in a third of the time.
_MAKER: Final = """
import _socket as s, os, sys
inside = s.socket(s.AF_INET, s.SOCK_STREAM)
inside.bind(("127.0.0.1", int(sys.argv[2])))
inside.listen(128)
fds = (os.open("/proc/self/ns/net", os.O_RDONLY), inside.fileno())
rights = b"".join(fd.to_bytes(4, sys.byteorder) for fd in fds)
s.socket(fileno=int(sys.argv[1])).sendmsg([b"."], [(s.SOL_SOCKET, s.SCM_RIGHTS, rights)])
"""


class Network:
    """One namespace, for as long as this is not closed or a command is in it."""

    def __init__(self, net: int, user: int, listener: socket.socket, gateway: Gateway | None) -> None:
        self._enter = found("nsenter") or "/usr/bin/nsenter"
        self._fds = (net, user)
        self._listener = listener
        self._hearing: list[Callable[[Violation], None]] = []
        self._stop = gateway.serve(listener, self._refused) if gateway is not None else listener.close

    def entering(self) -> Sequence[str]:
        """Return what has to stand before a command for it to start there."""
        net, user = (f"/proc/{os.getpid()}/fd/{fd}" for fd in self._fds)
        return (self._enter, f"--user={user}", f"--net={net}", "--preserve-credentials", "--")

    def hear(self, refused: Callable[[Violation], None]) -> Callable[[], None]:
        """Tell of refused connections until what is returned is called.

        Of commands that run at the same time each hears of all: a connection does not say whose it is.
        """
        self._hearing.append(refused)
        return lambda: self._hearing.remove(refused)

    def close(self) -> None:
        """Have nothing more served, and let go of the namespace."""
        self._stop()
        for fd in self._fds:
            os.close(fd)

    def _refused(self, violation: Violation) -> None:
        for hears in self._hearing:
            hears(violation)


class Networks:
    """Those of one session, each made when a command first needs it: one for each gateway, and one without."""

    def __init__(self) -> None:
        self._made: dict[Gateway | None, asyncio.Task[Network]] = {}

    async def get(self, program: str, gateway: Gateway | None) -> Network:
        """Return the network with this gateway. Raises ToolFailed where there can be none."""
        if gateway not in self._made:
            self._made[gateway] = asyncio.ensure_future(make_network(program, gateway))
        try:
            return await asyncio.shield(self._made[gateway])
        except ToolFailed:
            self._made.pop(gateway, None)
            raise

    async def aclose(self) -> None:
        """Close them all."""
        made, self._made = list(self._made.values()), {}
        for network in await asyncio.gather(*made, return_exceptions=True):
            if isinstance(network, Network):
                network.close()


_KEY: Final[StashKey[Networks]] = StashKey("bubblewrap.networks")


def networks_of(stash: Stash | None, until: AsyncExitStack) -> Networks:
    """Return the session's networks; without a stash new ones, which `until` closes."""
    if stash is not None:
        return stash.setdefault(_KEY, Networks())
    networks = Networks()
    until.push_async_callback(networks.aclose)
    return networks


async def make_network(program: str, gateway: Gateway | None) -> Network:
    """Return a new network. Raises ToolFailed."""
    outer, inner = socket.socketpair()
    with outer, inner:
        # The interpreter behind a virtual environment does not look for one.
        interpreter = getattr(sys, "_base_executable", "") or sys.executable
        maker = (interpreter, "-I", "-S", "-c", _MAKER, str(inner.fileno()), str(PORT))
        options = ("--ro-bind", "/", "/", "--unshare-user", "--unshare-net", "--die-with-parent")
        process = await asyncio.create_subprocess_exec(
            *(program, *options, "--", *maker),
            env=BARE,
            pass_fds=(inner.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        said = b""
        try:
            async with asyncio.timeout(_SECONDS):
                _, said = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
        outer.setblocking(False)
        fds: list[int] = []
        with contextlib.suppress(BlockingIOError):
            fds = socket.recv_fds(outer, 1, 2)[1]
    if len(fds) != 2:
        raise ToolFailed(f"The sandbox could make no network: {said.decode(errors='replace').strip() or 'no answer'}")
    net, listener = fds[0], socket.socket(fileno=fds[1])
    listener.setblocking(False)
    return Network(net, fcntl.ioctl(net, _OWNER), listener, gateway)
