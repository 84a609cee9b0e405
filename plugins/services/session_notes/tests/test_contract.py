from __future__ import annotations

from typing import Any

from toolpost import Journal, Models
from toolpost.services import SessionNotes
from toolpost.testing import MemoryJournal, ServiceContract
from toolpost_service_session_notes import SessionNotesService


class Silent:
    small = "small"

    async def ask(self, request: Any) -> str:
        raise AssertionError("nobody asked for notes")


class TestSessionNotes(ServiceContract):
    plugin = SessionNotesService
    protocols = (SessionNotes,)
    services = {Journal: MemoryJournal(), Models: Silent()}
