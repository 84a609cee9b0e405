"""Inboxes as plugins get them: one that keeps what comes in, and one that nobody reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from .values import encoded

if TYPE_CHECKING:
    from toolpost import Inbox, Notice, Priority

    from .recording import Recording


class KeptInbox:
    """An inbox that keeps what comes in."""

    def __init__(self, inbox: Inbox, recording: Recording) -> None:
        self._inbox, self._recording = inbox, recording

    def put(
        self,
        text: str,
        *,
        shown: Notice | None = None,
        kind: Literal["task", "hook", "scheduled", "context"] = "context",
        priority: Priority = "next",
    ) -> None:
        """Keep a text, and let the model read it."""
        facts = {"text": text, "shown": encoded(shown), "kind": kind, "priority": priority}
        self._recording.came(facts)
        with self._recording.outside():
            self._inbox.put(text, shown=shown, kind=kind, priority=priority)

    @contextmanager
    def expect(self) -> Iterator[None]:
        """Keep for how long a text is expected."""
        self._recording.put({"e": "expect"})
        try:
            with self._inbox.expect():
                yield
        finally:
            self._recording.put({"e": "expected"})


class SilentInbox:
    """An inbox that nobody reads."""

    def put(self, text: str, **facts: Any) -> None:
        """Leave it out."""

    @contextmanager
    def expect(self) -> Iterator[None]:
        """Expect nothing."""
        yield
