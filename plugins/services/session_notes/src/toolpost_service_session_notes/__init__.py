"""Takes notes on a session while it goes on, so that a compaction need not wait for a summary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from toolpost import Plugin, ServiceOffer, SessionScope, hookimpl

if TYPE_CHECKING:
    from toolpost.services import SessionNotes


class SessionNotesService(Plugin):
    """Offers `SessionNotes`, which the small model takes in the background.

    Notes are taken first when the conversation has `first` tokens, and again each time that it grew by `every`. With 0,
    which is the default, none are taken: they cost requests that nobody asked for. `tokens` is what they may have at most.
    """

    every: int = 0
    first: int = 10_000
    tokens: int = 2_000

    @hookimpl
    def listeners(self, session: SessionScope) -> Sequence[Callable[..., Any]]:
        """Return what hears of each answer; nothing where no notes are taken."""
        if self.every <= 0:
            return ()
        from .listening import listener_for

        return (listener_for(session),)

    @hookimpl(specname="services")
    def _services(self) -> Sequence[ServiceOffer[Any]]:
        from toolpost.services import SessionNotes

        return (ServiceOffer(SessionNotes, self._make),)

    def _make(self, scope: SessionScope) -> SessionNotes:
        from .notes import BackgroundNotes

        return BackgroundNotes(scope, every=self.every, first=self.first, tokens=self.tokens)
