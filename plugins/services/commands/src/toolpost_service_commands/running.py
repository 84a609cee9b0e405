"""`Running`: one command that was started."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from toolpost import Aborted

if TYPE_CHECKING:
    from toolpost import AbortSignal, Process, Violation, Wrapped

    from .collected import Collected

Why: TypeAlias = Literal["ended", "timed_out", "flooded", "moved"]
"""Why somebody waits no longer for a command."""

MOST_OUTPUT = 2_000_000_000
"""Bytes of output at which a command is ended: it goes to a file, and would fill the disk until the time-out."""
_DRAIN_SECONDS: Final = 0.1
"""How long output may still come once the shell has ended: others may hold its pipe open for ever."""


class Running:
    """A command, its output as it comes, and what the sandbox made for it."""

    def __init__(self, process: Process, output: Collected, wrapped: Wrapped) -> None:
        self.process = process
        self.output = output
        self.started = time.monotonic()
        self._wrapped: Wrapped | None = wrapped
        self._flooded = asyncio.Event()
        self._pump = asyncio.create_task(self._collect())

    async def wait(
        self,
        *,
        timeout: float,
        move_after: float | None = None,
        abort: AbortSignal | None = None,
        tell: Callable[[float], None] | None = None,
    ) -> Why:
        """Wait for the end, the time-out or too much output; nothing is ended here. Times count from the start.

        `tell` is called each second with the seconds so far. Raises Aborted.
        """
        deadline = min(timeout, move_after) if move_after is not None else timeout
        ended = asyncio.ensure_future(self.process.wait())
        flooded = asyncio.ensure_future(self._flooded.wait())
        called_off = asyncio.ensure_future(abort.wait()) if abort is not None else None
        watched = {ended, flooded, *({called_off} if called_off is not None else ())}
        try:
            while True:
                elapsed = time.monotonic() - self.started
                await asyncio.wait(
                    watched, timeout=max(min(1.0, deadline - elapsed), 0), return_when=asyncio.FIRST_COMPLETED
                )
                elapsed = time.monotonic() - self.started
                if ended.done():
                    return "ended"
                if called_off is not None and called_off.done():
                    raise Aborted(called_off.result())
                if flooded.done():
                    return "flooded"
                if elapsed >= deadline:
                    return "timed_out" if deadline == timeout else "moved"
                if tell is not None and elapsed >= 1:
                    tell(elapsed)
        finally:
            for future in watched:
                future.cancel()

    async def drain(self) -> None:
        """Take up the output that is still on its way after the end; who keeps the pipe open is not waited for."""
        await asyncio.wait({self._pump}, timeout=_DRAIN_SECONDS)

    async def end(self, *, grace: float) -> None:
        """End the command and all that it started. Never raises."""
        group = self._wrapped.group(self.process.pid) if self._wrapped is not None and grace > 0 else None
        await self.process.stop(grace=grace, group=group)
        await self.drain()

    async def let_go(self) -> tuple[Violation, ...]:
        """Free what the sandbox made for it; return what the command tried there and was not let. Once only."""
        wrapped, self._wrapped = self._wrapped, None
        return tuple(await wrapped.finish()) if wrapped is not None else ()

    @property
    def holds(self) -> asyncio.Task[None] | None:
        """What goes on reading, where something that the command left behind keeps its pipe open."""
        return None if self._pump.done() else self._pump

    async def _collect(self) -> None:
        while data := await self.process.read():
            self.output.add(data)
            if self.output.size > MOST_OUTPUT:
                self._flooded.set()
