"""`MemoryFiles`: what is kept of a project from one session to the next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from toolpost._frozen import frozen


@frozen(kw_only=True)
class MemoryFile:
    """A memory, and what it says of itself.

    `type` is user, feedback, project or reference; empty for anything else. `saved` is in seconds since 1970.
    """

    path: Path
    name: str
    description: str = ""
    type: str = ""
    saved: float = 0.0


class MemoryFiles(Protocol):
    """The memories of the session's project, as a person may look at them."""

    @property
    def folder(self) -> Path | None:
        """Where they lie; None where memory is off. It need not be there yet."""

    def list(self) -> Sequence[MemoryFile]:
        """Return the memories, the newest first."""
