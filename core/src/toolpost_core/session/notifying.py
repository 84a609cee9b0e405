"""Tells Notification listeners that a person should look."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Literal

from toolpost import on

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolpost_core.events.dispatch import Dispatcher

IDLE_AFTER: Final = 60.0
"""Seconds that a session waits for its person before it says so."""
_GRACE: Final = 1.0
"""Seconds that listeners have for their end when the session closes."""


class Notifier:
    """Nobody waits for the listeners: a question is put while they run. `tell` gets text that they have for the model."""

    def __init__(self, events: Dispatcher, tell: Callable[[str], None]) -> None:
        self._events = events
        self._tell = tell
        self._running: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None

    def permission_wanted(self, tool_name: str) -> None:
        """A person is asked for a permission."""
        self._notify(f"Toolpost needs your permission to use {tool_name}", "permission_prompt")

    def idle(self) -> None:
        """The person's turn has come."""
        self.busy()
        if self._events.hears("notification"):
            wait = "Toolpost is waiting for your input"
            self._timer = asyncio.get_running_loop().call_later(IDLE_AFTER, self._notify, wait, "idle_prompt")

    def busy(self) -> None:
        """The person has answered."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def aclose(self) -> None:
        """Let listeners come to their end, and leave those behind that take long."""
        self.busy()
        running = tuple(self._running)
        if running:
            _, late = await asyncio.wait(running, timeout=_GRACE)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _notify(self, message: str, kind: Literal["permission_prompt", "idle_prompt"]) -> None:
        if not self._events.hears("notification"):
            return
        task = asyncio.create_task(self._emit(message, kind))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _emit(self, message: str, kind: str) -> None:
        from toolpost.events.turn import Notification

        value = Notification(message=message, title="Toolpost", notification_type=kind)
        outcome = (await self._events.emit(on.notification, value)).outcome
        if outcome is not None and outcome.additional_context:
            self._tell(outcome.additional_context)
