"""Where in its file a change stands: results show only the lines around it."""

from __future__ import annotations

from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolpost import Diff

# Reading more would be felt; such a diff is shown without line numbers.
_MOST_BYTES = 5_000_000


def locator(cwd: Callable[[], Path]) -> Callable[[Diff], int | None]:
    """Return a function that finds the line, from 1, that a change's text begins on in the file as it is now.

    It gives None where the text stands in the file more than once, or nowhere.
    """

    def locate(diff: Diff) -> int | None:
        if diff.before is None:
            return 1
        try:
            path = cwd() / diff.path
            status = path.stat()
            if not S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
                return None
            text = "\n".join(path.read_text(errors="replace").splitlines())
        except (OSError, ValueError):
            return None
        return _line_of(diff.after, text) or _line_of(diff.before, text)

    return locate


def _line_of(part: str, text: str) -> int | None:
    part = "\n".join(part.splitlines())
    at = text.find(part) if part else -1
    if at < 0 or text.find(part, at + 1) >= 0:
        return None
    return text.count("\n", 0, at) + 1
