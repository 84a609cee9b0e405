"""The proxy that commands in the sandbox go out by: HTTP, CONNECT and SOCKS5 on one port."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from . import http, socks
from .proxies import Proxies
from .verdicts import Refused, Verdicts

if TYPE_CHECKING:
    from toolpost import Violation

    from .asked import Asked
    from .log import Log
    from .proxies import Streams

_CONNECT_SECONDS = 30.0
_HEAD_SECONDS = 30.0
_CHUNK = 65536

MOST_CONNECTIONS: Final = 200
"""At a time: each takes two of our descriptors, and a command could ask for all of them."""
_PASSING: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.ECONNABORTED)
_PAUSE_SECONDS: Final = 0.1
_MOST_SHOWN: Final = 253


class FilteringGateway:
    """Lets connections out that the verdicts allow, by the proxies that are in force, if any; every one is logged."""

    def __init__(self, verdicts: Verdicts, log: Log, proxies: Callable[[], Proxies] = Proxies) -> None:
        self._verdicts = verdicts
        self._log = log
        self._proxies = proxies
        self._tasks: set[asyncio.Task[None]] = set()

    def serve(self, listener: socket.socket, refused: Callable[[Violation], None]) -> Callable[[], None]:
        """Accept connections until what is returned is called."""
        serving = Serving(self._verdicts, self._log, self._proxies, refused)
        task = asyncio.get_running_loop().create_task(serving.accept(listener))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

        def stop() -> None:
            task.cancel()

        return stop

    async def aclose(self) -> None:
        """End all connections."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class Serving:
    """The connections of one command."""

    def __init__(
        self, verdicts: Verdicts, log: Log, proxies: Callable[[], Proxies], refused: Callable[[Violation], None]
    ) -> None:
        self._verdicts = verdicts
        self._log = log
        self._proxies = proxies
        self._refused = refused

    async def accept(self, listener: socket.socket) -> None:
        """Serve each connection in a task of its own, so many at a time; cancelling this ends all."""
        free = asyncio.Semaphore(MOST_CONNECTIONS)
        with listener:
            async with asyncio.TaskGroup() as connections:
                while True:
                    await free.acquire()
                    serving = connections.create_task(self._connection(await _next(listener)))
                    serving.add_done_callback(lambda _: free.release())

    async def _connection(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError, EOFError, TimeoutError, ValueError, asyncio.LimitOverrunError):
            reader, writer = await asyncio.open_connection(sock=client, limit=_CHUNK)
            try:
                await self._serve(reader, writer)
            finally:
                writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_HEAD_SECONDS):
            first = await reader.readexactly(1)
            asked = await (socks.read(reader, writer) if first == socks.VERSION else http.read(reader, first))
        try:
            (there, out), onward = await self._connected(asked)
        except Refused as why:
            self._tell(asked.host, asked.port, str(why))
            writer.write(asked.refusal(f"Toolpost's sandbox does not let this connect to {asked.host}: {why}."))
            await writer.drain()
            return
        except (OSError, EOFError, TimeoutError) as error:
            self._log.write(asked.host, asked.port, f"failed: {error}")
            writer.write(asked.failure(f"{asked.host} could not be reached: {error}."))
            await writer.drain()
            return
        self._log.write(asked.host, asked.port, "connected")
        try:
            writer.write(asked.answer)
            out.write(onward)
            await _both_ways((reader, out), (there, writer))
        finally:
            out.close()

    async def _connected(self, asked: Asked) -> tuple[Streams, bytes]:
        """Connect, and return what the far end is to be told first. Raises Refused, OSError, EOFError, TimeoutError."""
        proxies = self._proxies()
        if proxies:
            host = await self._verdicts.host(asked.host, asked.port)
            async with asyncio.timeout(_CONNECT_SECONDS):
                return await proxies.connect(asked, host)
        failure: Exception = OSError("it has no address")
        for address in await self._verdicts.addresses(asked.host, asked.port):
            try:
                async with asyncio.timeout(_CONNECT_SECONDS):
                    return await asyncio.open_connection(address, asked.port, limit=_CHUNK), asked.onward
            except (OSError, TimeoutError) as error:
                failure = error
        raise failure

    def _tell(self, host: str, port: int, why: str) -> None:
        from toolpost import Violation

        shown = "".join(char if char.isprintable() else "?" for char in host[:_MOST_SHOWN])
        self._log.write(shown, port, f"refused: {why}")
        self._refused(Violation("connect", f"{shown}:{port}", why))


async def _next(listener: socket.socket) -> socket.socket:
    """Return the next connection; waits for a descriptor where none is free."""
    while True:
        try:
            return (await asyncio.get_running_loop().sock_accept(listener))[0]
        except OSError as error:
            if error.errno not in _PASSING:
                raise
            await asyncio.sleep(_PAUSE_SECONDS)


async def _both_ways(
    up: tuple[asyncio.StreamReader, asyncio.StreamWriter], down: tuple[asyncio.StreamReader, asyncio.StreamWriter]
) -> None:
    """Pass bytes on until the far end has said all; what the near end says last is still passed on."""
    sending = asyncio.ensure_future(_pass_on(*up))
    try:
        await _pass_on(*down)
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while data := await source.read(_CHUNK):
        target.write(data)
        await target.drain()
    if target.can_write_eof():
        target.write_eof()
