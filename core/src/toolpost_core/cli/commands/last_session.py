"""What a session kept of its listeners when it was closed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from toolpost_core.events.times import RECORD
from toolpost_core.transcripts.reading import records_in
from toolpost_core.transcripts.store import Store

if TYPE_CHECKING:
    from toolpost_core.cli.workspace import Workspace


class Kept(NamedTuple):
    """The rows of `events.times.RECORD`; `session` is empty where no session of the folder was kept."""

    session: str = ""
    listeners: tuple[dict[str, Any], ...] = ()
    quarantined: tuple[dict[str, Any], ...] = ()


def kept(workspace: Workspace, session: str | None = None) -> Kept:
    """Return what a session kept, or the last one of the folder. Raises SessionError for one that is not there."""
    store, project = Store(workspace.places.config_dir), workspace.places.project
    if session is not None:
        return _read(store.find(session, project))
    found = store.of(project)
    return _read(found[0].path) if found else Kept()


def _read(file: Path) -> Kept:
    last: Mapping[str, Any] = {}
    for record in records_in(file, RECORD):
        last = record
    return Kept(file.stem, _rows(last.get("listeners")), _rows(last.get("quarantined")))


def _rows(value: Any) -> tuple[dict[str, Any], ...]:
    return tuple(row for row in value if isinstance(row, dict)) if isinstance(value, list) else ()
