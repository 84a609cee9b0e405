"""Once a day old sessions are removed, beside a session that starts."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolpost import SessionError

if TYPE_CHECKING:
    from threading import Thread

    from toolpost_core.settings import Settings
    from toolpost_core.transcripts.store import Store

MARK: Final = "sessions-pruned"
"""The file in the cache folder whose time says when that was done last."""
EVERY: Final = 86_400.0


def tidy_daily(store: Store, settings: Settings, cache: Path) -> Thread | None:
    """Begin to remove old sessions where a day has passed since that was done; returns the thread that does.

    Nothing is removed where a settings file is broken: it may say how long sessions are kept. The first time, the clock
    is set only.
    """
    mark = cache / MARK
    try:
        passed = time.time() - mark.stat().st_mtime
    except OSError:
        _touch(mark)
        return None
    if passed < EVERY or settings.problems:
        return None
    _touch(mark)
    from threading import Thread

    from toolpost_core.transcripts.retention import DAYS, prune

    days = settings.get("cleanupPeriodDays") or DAYS

    def tidy() -> None:
        with suppress(SessionError):  # where a folder can't be read nobody knows what is needed
            prune(store, days)

    thread = Thread(target=tidy, name="prune-sessions", daemon=True)
    thread.start()
    return thread


def _touch(mark: Path) -> None:
    with suppress(OSError):
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
