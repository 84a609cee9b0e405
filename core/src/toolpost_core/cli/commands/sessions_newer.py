"""What `toolpost sessions` says of a session that it knows in part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolpost_core.cli.exits import complain
from toolpost_core.transcripts.migration import told_newer
from toolpost_core.transcripts.reading import is_partly_known

if TYPE_CHECKING:
    from pathlib import Path


def warn_of_newer(path: Path) -> None:
    """Say so where a newer version wrote a session: what it shows of it may not be all. Raises SessionError."""
    if is_partly_known(path):
        complain(f"warning: {told_newer(path.stem)}: what it does not know is not shown. Update Toolpost to see all.")
