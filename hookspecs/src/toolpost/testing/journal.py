"""`MemoryJournal`: the Journal service without a transcript."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolpost.services import SentPrompt


@dataclass
class MemoryJournal:
    """A Journal whose prompts a test sends; what is appended is kept as it would be read back."""

    session_id: str = "test-session"
    sent: list[SentPrompt] = field(default_factory=list)
    appended: list[Mapping[str, Any]] = field(default_factory=list)

    def send(self, id: str, text: str = "") -> None:
        """Begin the turn of another prompt."""
        self.sent.append(SentPrompt(id=id, text=text, time=f"2026-01-01T00:00:{len(self.sent):02d}.000Z"))

    def prompts(self) -> Sequence[SentPrompt]:
        """Every prompt that was sent."""
        return tuple(self.sent)

    def append(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Keep a record."""
        import json

        self.appended.append(json.loads(json.dumps({"type": kind, **fields})))

    def records(self, kind: str) -> Sequence[Mapping[str, Any]]:
        """Return the records of a type."""
        return [record for record in self.appended if record["type"] == kind]
