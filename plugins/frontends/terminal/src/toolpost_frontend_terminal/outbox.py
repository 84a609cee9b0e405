"""What the person has sent and nobody has read yet."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from . import commands

if TYPE_CHECKING:
    from toolpost import SessionDoor


class Outbox:
    """While a turn runs, prompts wait in the session's queue, which the model reads between calls; all else waits here."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque()
        self._arrived = asyncio.Event()
        self._turn: SessionDoor | None = None
        self.closed = False

    def attach(self, turn: SessionDoor | None) -> None:
        """Give prompts to the session whose turn runs; None where none does."""
        self._turn = turn

    def send(self, text: str) -> None:
        """Take what was sent. A prompt behind a command stays behind it."""
        if self._turn is not None and not self._lines and commands.parse(text) is None:
            self._turn.enqueue(text)
        else:
            self._lines.append(text)
            self._arrived.set()

    def waiting(self) -> list[str]:
        """Return what waits, in the order in which it will be read."""
        prompts = self._turn.queued() if self._turn is not None else ()
        return [*(queued.text for queued in prompts if queued.kind == "prompt"), *self._lines]

    def take_back(self) -> str | None:
        """Take back what was sent last, if anything waits."""
        if self._lines:
            return self._lines.pop()
        prompts = self._turn.queued() if self._turn is not None else ()
        last = next((queued for queued in reversed(prompts) if queued.kind == "prompt"), None)
        if last is None or self._turn is None or self._turn.withdraw(last.id) is None:
            return None
        return last.text

    def take_back_all(self) -> list[str]:
        """Take back all that waits, in the order in which it was to be read."""
        taken: list[str] = []
        while (text := self.take_back()) is not None:
            taken.insert(0, text)
        return taken

    def close(self) -> None:
        """Take no more, and forget the lines that wait."""
        self.closed = True
        self._lines.clear()
        self._arrived.set()

    def first(self) -> str | None:
        """Return the line that was sent first of those that wait here; None where none does."""
        return self._lines.popleft() if self._lines else None

    async def next(self) -> str | None:
        """Return the line that was sent first of those that wait here; None once this is closed."""
        while not self._lines and not self.closed:
            self._arrived.clear()
            await self._arrived.wait()
        return self.first()
