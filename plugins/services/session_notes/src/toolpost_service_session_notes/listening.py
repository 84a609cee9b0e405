"""Hears of the answers of a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from toolpost import on
from toolpost.services import SessionNotes

from .notes import BackgroundNotes

if TYPE_CHECKING:
    from toolpost import SessionScope
    from toolpost.events.turn import AfterModel


def listener_for(session: SessionScope) -> Callable[..., Any]:
    """Return the listener that tells the session's notes of its answers; those of sub-agents are not noted."""

    @on.after_model
    async def note(event: AfterModel) -> None:
        if event.origin.agent_id is not None or session.services is None:
            return
        notes = session.services.get(SessionNotes)
        if isinstance(notes, BackgroundNotes):  # another plugin's own notes hear of answers by themselves
            notes.answered([*event.request.messages, event.message], event.usage)

    return note
