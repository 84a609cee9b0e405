"""`DecidedPaths`: where the paths of a call led when it was decided on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from toolpost.errors import StaleFile


@dataclass(frozen=True)
class DecidedPaths:
    """Absolute paths of one call, each with the place that it led to, all links followed, when the call was decided on.

    A link that is exchanged between the decision and the call must not lead the call to what nobody decided on.
    """

    places: Mapping[Path, Path] = field(default_factory=dict)

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
