"""Hooks that run while the session goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from functools import partial
from typing import Any

from toolpost_lifecycle_settings_hooks.said import Said


class Background:
    """The running hooks of a session and what ended ones told; core closes it with the session."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Said | None]] = set()
        self._told: list[tuple[str | None, Said]] = []

    def start(self, work: Coroutine[Any, Any, Said | None], agent: str | None = None) -> None:
        """Run a hook of an agent's event to its end, or to the session's."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(partial(self._ended, agent))

    def take(self, agent: str | None = None) -> Sequence[Said]:
        """Return what hooks told an agent since the last time; the session's own (None) takes what others left."""
        taken = [said for whose, said in self._told if agent in (None, whose)]
        self._told = [(whose, said) for whose, said in self._told if agent not in (None, whose)]
        return taken

    async def aclose(self) -> None:
        """Stop what still runs."""
        running = tuple(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _ended(self, agent: str | None, task: asyncio.Task[Said | None]) -> None:
        self._running.discard(task)
        if not task.cancelled() and task.exception() is None and (said := task.result()) is not None:
            self._told.append((agent, said))
