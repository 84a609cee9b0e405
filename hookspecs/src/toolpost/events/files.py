"""Events of files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from toolpost._hooks import event
from toolpost.events._base import EventBase, merged
from toolpost.events.session import WatchOutcome


@dataclass(frozen=True, kw_only=True)
class FileChanged(EventBase):
    """A watched file changed."""

    file_path: Path
    event: Literal["change", "add", "unlink"] = "change"


@event("observe", merged)
def file_changed(event: FileChanged) -> WatchOutcome | None:
    """When a watched file changed.

    When: before the next request, and about a second later where none comes. How often: once a change; quick ones are
    folded together. Answer: `watch_paths`, relative ones to the current folder. Failure: reported.
    """
