"""Records of earlier forms in today's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from toolpost_core.transcripts.kinds import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Record = dict[str, Any]


def schema_of(record: Mapping[str, Any]) -> int:
    """Return the form that a record says it has; 0 for records from before forms were numbered, and of other programs."""
    schema = record.get("schema")
    return schema if isinstance(schema, int) and not isinstance(schema, bool) else 0


def is_newer(record: Mapping[str, Any]) -> bool:
    """Whether a record has a form that this version does not know."""
    return schema_of(record) > SCHEMA


def told_newer(session_id: str) -> str:
    """Return the words for a session that has records of a form that this version does not know."""
    return f"The session {session_id} was written by a newer Toolpost (this one knows records up to form {SCHEMA})"


def migrated(record: Record) -> Record:
    """Return a record in today's form."""
    for schema in range(schema_of(record), SCHEMA):
        record = MIGRATIONS[schema](record)
    return record


def _from_unnumbered(record: Record) -> Record:
    """A replacement was a record of its own; a summary was what titles are now."""
    match record:
        case {"type": "content-replacement", "toolUseId": str(name), "content": content}:
            return {**record, "replacements": [{"toolUseId": name, "replacement": content}]}
        case {"type": "summary", "summary": str(text)}:
            return {**record, "type": "ai-title", "aiTitle": text}
    return record


MIGRATIONS: Final[Sequence[Callable[[Record], Record]]] = (_from_unnumbered,)
"""By the form that a record has: what brings it to the next one."""
