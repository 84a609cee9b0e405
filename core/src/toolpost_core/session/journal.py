"""`Journal`: the transcript as plugins may use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from toolpost_core.transcripts.chain import LINKED
from toolpost_core.transcripts.kinds import QUEUE, REPLACEMENT, REWIND, STATES, TOMBSTONE, USAGE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolpost import SentPrompt
    from toolpost_core.session.inner import Inner

CONVERSATION: Final = (*LINKED, "summary", REPLACEMENT, REWIND, TOMBSTONE, USAGE, QUEUE, *STATES)
"""What says which conversation there is and how it goes on; a plugin's records never do."""


class SessionJournal:
    """The journal of a session."""

    def __init__(self, session: Inner) -> None:
        self._session = session

    @property
    def session_id(self) -> str:
        """The session's id at this moment."""
        return self._session.id

    def prompts(self) -> Sequence[SentPrompt]:
        """Every prompt in the order in which they were sent."""
        return self._session.prompt_log.all()

    def append(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Append a record that is no part of the conversation."""
        if kind in CONVERSATION:
            raise ValueError(f"{kind!r} records make the conversation; give the record a type of its own.")
        self._session.transcript.side(kind, **fields)

    def records(self, kind: str) -> Sequence[Mapping[str, Any]]:
        """Return the session's records of a type, oldest first."""
        from toolpost_core.transcripts.reading import records_of

        session = self._session
        path, history = session.transcript.path, session.parts.history
        if path is None:
            found: Sequence[Mapping[str, Any]] = list(history.records()) if history is not None else ()
        else:
            found = records_of(path, kind) if path.exists() else ()
        return [record for record in found if record.get("type") == kind]
