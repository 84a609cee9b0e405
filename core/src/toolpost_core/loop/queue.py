"""What the model is to read at the next opportunity."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

from toolpost_core.tools.watched import watched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolpost import AbortSignal, Notice


class MessageQueue:
    """The `Inbox` of a session: texts wait here until the next request takes them.

    `show` tells front ends. A queue that `waits` holds a run at the model's end while a text is expected: nobody will write
    a next prompt that could take it along.
    """

    def __init__(self, show: Callable[[Notice], None], *, waits: bool) -> None:
        self._show = show
        self._waits = waits
        self._texts: list[str] = []
        self._expected = 0
        self._changed = asyncio.Event()

    def put(self, text: str, *, shown: Notice | None = None) -> None:
        """Let the model read a text in its next request."""
        self._texts.append(text)
        self._changed.set()
        if shown is not None:
            self._show(shown)

    @contextmanager
    def expect(self) -> Iterator[None]:
        """While this is entered a text is to come."""
        self._expected += 1
        try:
            yield
        finally:
            self._expected -= 1
            self._changed.set()

    def take(self) -> tuple[str, ...]:
        """Return what waits; it waits no longer."""
        texts, self._texts = tuple(self._texts), []
        return texts

    async def at_end(self, abort: AbortSignal) -> tuple[str, ...]:
        """Return what keeps a run from ending: the next text that was expected. Raises Aborted."""
        if not self._waits or not self._expected:
            return ()
        while self._expected and not self._texts:
            self._changed.clear()
            await watched(self._something_changed(), abort)
        return self.take()

    async def _something_changed(self) -> None:
        await self._changed.wait()
