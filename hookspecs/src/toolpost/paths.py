"""`DecidedPaths`: where the paths of a call led when it was decided on; and what a project's folder is called."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Final

from toolpost._frozen import frozen
from toolpost.errors import StaleFile

_KEY_CHARS: Final = 200
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


def project_key(folder: Path) -> str:
    """Return what a folder is called below `projects` in the configuration folder, where what belongs to it is kept.

    Every character but letters and digits is a `-`; a long name is cut, and a hash tells it from others.
    """
    key = "".join(char if char.isascii() and char.isalnum() else "-" for char in str(folder))
    return key if len(key) <= _KEY_CHARS else f"{key[:_KEY_CHARS]}-{_hash36(str(folder))}"


def _hash36(text: str) -> str:
    """Return the hash that readers of such folders know: 32-bit, times 31, in base 36."""
    value = 0
    for char in text:
        value = (value * 31 + ord(char)) & 0xFFFFFFFF
    value = abs(value - (1 << 32) if value & 0x80000000 else value)
    digits = ""
    while value:
        value, rest = divmod(value, 36)
        digits = _DIGITS[rest] + digits
    return digits or "0"


@frozen()
class DecidedPaths:
    """Absolute paths of one call, each with the place that it led to, all links followed, when the call was decided on.

    A link that is exchanged between the decision and the call must not lead the call to what nobody decided on.
    `withheld` says of a file that the call comes upon below them whether it must not be read; it is None where all may be.
    """

    places: Mapping[Path, Path] = field(default_factory=dict)
    withheld: Callable[[Path], bool] | None = field(default=None, compare=False)

    def real(self, path: Path) -> Path:
        """Return where an absolute path leads; what was not decided on by itself leads where its links do now.

        Raises StaleFile where the path, or the folder above it that was decided on, leads elsewhere by now.
        """
        decided = next((one for one in self.places if path.is_relative_to(one)), None)
        if decided is None:
            return Path(os.path.realpath(path))
        place = self.places[decided]
        now = os.path.realpath(decided)
        if now != str(place):
            raise StaleFile(f"{decided} leads to {now} by now, and permission was given for {place}; call again")
        return place if path == decided else Path(os.path.realpath(place / path.relative_to(decided)))
