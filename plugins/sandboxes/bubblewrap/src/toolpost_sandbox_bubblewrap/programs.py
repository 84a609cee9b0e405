"""Where the programs are that hold commands in: never on PATH, which may begin in a folder that commands write to."""

from __future__ import annotations

import shutil
from typing import Final

PLACES: Final = ("/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin", "/run/current-system/sw/bin")


def found(name: str) -> str | None:
    """Return the path of a program of the system; None where it is not installed."""
    return shutil.which(name, path=":".join(PLACES))
