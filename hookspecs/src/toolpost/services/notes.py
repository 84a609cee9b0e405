"""`SessionNotes`: what is kept about a conversation while it goes on."""

from __future__ import annotations

from typing import Protocol


class SessionNotes(Protocol):
    """Notes on a session that are taken in the background; a compaction can use them without asking the model."""

    def read(self) -> str:
        """Return what was noted so far, as the model is to read it; empty where nothing was."""
