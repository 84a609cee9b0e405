"""What a copy of a session begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolpost_core.transcripts.chain import LINKED, is_boundary, is_message
from toolpost_core.transcripts.kinds import TITLE
from toolpost_core.transcripts.reading import GUARD, records_in
from toolpost_core.transcripts.spilling import whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from toolpost_core.transcripts.history import History

LEFT_OUT = ("progress", TITLE)
"""The types of records that say nothing in a copy."""
NAMING = ("parentUuid", "logicalParentUuid", "leafUuid")
"""The fields by which records name one of the chain."""


def copied(history: History, session_id: str) -> Iterator[dict[str, Any]]:
    """Read the records of a session as those of its copy, which each say where they come from.

    Of a session that is longer than what is read to go on with it, only that is copied. Raises SessionError.
    """
    if history.path is None:
        return
    start = 0 if history.end <= GUARD else history.begin
    above = _Above()
    for record in records_in(history.path, start=start):
        if record.get("isSidechain"):
            continue
        if record.get("type") in LEFT_OUT:
            above.leave(record)
            continue
        origin = {"sessionId": history.session_id, "messageUuid": record.get("uuid")}
        before = {"type": record["type"], "forkedFrom": origin} if record.get("type") in LINKED else {}
        yield {**before, **whole(record, history.path), **above.links(record), "sessionId": session_id}


class _Above:
    """What records that are left out stood below: those that named one as their parent go there.

    Where that is not there, it is the message before, as for who reads a transcript with a gap.
    """

    def __init__(self) -> None:
        self._left: dict[str, str | None] = {}
        self._kept: set[str] = set()
        self._last: str | None = None

    def leave(self, record: Mapping[str, Any]) -> None:
        """Remember where a record stood that is left out."""
        uuid, parent = record.get("uuid"), record.get("parentUuid")
        if isinstance(uuid, str):
            self._left[uuid] = None if parent is None else self._nearest(str(parent))

    def links(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a record that is kept that name another, where that is left out."""
        named = {key: record.get(key) for key in NAMING}
        links = {key: self._left[uuid] for key, uuid in named.items() if isinstance(uuid, str) and uuid in self._left}
        if record.get("type") in LINKED:
            self._kept.add(str(record.get("uuid")))
            if is_message(record) or is_boundary(record):
                self._last = str(record.get("uuid"))
        return links

    def _nearest(self, uuid: str) -> str | None:
        return self._left.get(uuid, uuid if uuid in self._kept else self._last)
