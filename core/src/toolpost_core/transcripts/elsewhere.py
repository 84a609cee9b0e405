"""Where a new session is kept when its own folder can't have it."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def kept_somewhere(path: Path, report: Callable[[str], None]) -> Path:
    """Return the path of a new transcript; one in a temporary folder, which is told, where no file can be made there."""
    reason = _obstacle(path.parent)
    if reason is None:
        return path
    import tempfile
    from pathlib import Path

    try:
        found = Path(tempfile.mkdtemp(prefix="toolpost-session-"), path.name)
    except OSError:
        return path  # the transcript says why it can't be opened
    report(
        f"Sessions can't be kept in {path.parent} ({reason}): this one is kept in {found}, and `--resume {found}` goes on "
        f"with it. Mend the rights of the folder, or remove what is in its place, before the next one."
    )
    return found


def _obstacle(folder: Path) -> str | None:
    """Say why no file can be made in a folder, which may still have to be made itself."""
    while True:
        try:
            mode = os.stat(folder).st_mode  # noqa: PTH116 - on the way to each first request
        except FileNotFoundError:
            if folder.parent == folder:
                return os.strerror(errno.ENOENT)
            folder = folder.parent
            continue
        except OSError as error:
            return error.strerror
        if not stat.S_ISDIR(mode):
            return os.strerror(errno.ENOTDIR)
        return None if os.access(folder, os.W_OK | os.X_OK) else os.strerror(errno.EACCES)
