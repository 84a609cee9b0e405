"""All changes of a session in the order in which they were made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from .entries import Entry

SHORTEST_ID: Final = 8


class Ledger:
    """The entries, and which of them have lost their copies because there are too many stations."""

    def __init__(self, max_stations: int) -> None:
        self.entries: list[Entry] = []
        self._of: dict[Path, list[Entry]] = {}
        self._stations: dict[str, int] = {}
        self._max_stations = max_stations

    def add(self, entry: Entry) -> None:
        """Add the newest entry."""
        self.entries.append(entry)
        self._of.setdefault(entry.path, []).append(entry)
        self._stations[entry.station] = self._stations.get(entry.station, 0) + 1

    def retract(self, entries: Sequence[Entry]) -> set[str]:
        """Take back the newest entries of files: there was no change. Returns the copies that nothing refers to now."""
        for entry in entries:
            self._of[entry.path].remove(entry)
            self._stations[entry.station] -= 1
            if not self._stations[entry.station]:
                del self._stations[entry.station]
        gone = set(map(id, entries))
        self.entries = [entry for entry in self.entries if id(entry) not in gone]
        return {entry.before.copy for entry in entries} - {entry.before.copy for entry in self.entries}

    def last(self, path: Path) -> Entry | None:
        """Return the newest entry of a file."""
        entries = self._of.get(path)
        return entries[-1] if entries else None

    def knows(self, station: str) -> bool:
        """Whether anything was changed in a station."""
        return station in self._stations

    def unsettled(self, path: Path, station: str) -> list[Entry]:
        """Return the newest entries of a file, or of those in a folder, whose outcome in a station is not known."""
        newest = (entries[-1] for entries in self._of.values() if entries)
        return [e for e in newest if (e.station, e.becomes) == (station, None) and e.path.is_relative_to(path)]

    def since(self, target: str, prompts: Sequence[str]) -> list[Entry] | None:
        """Return what was changed since a prompt was sent or a rewind began; None for an unknown id.

        `prompts` are the ids of all prompts in their order. Of a rewind's id the beginning will do.
        """
        if target in prompts:
            later = set(prompts[prompts.index(target) :])
            return [entry for entry in self.entries if entry.prompt in later]
        named = [station for station in self._stations if station.startswith(target)]
        if len(target) < SHORTEST_ID or len(named) != 1:
            return None
        first = next(index for index, entry in enumerate(self.entries) if entry.station == named[0])
        return self.entries[first:]

    def is_dropped(self, entry: Entry) -> bool:
        """Whether the entry belongs to a station whose copies are no longer kept."""
        return entry.station in self._dropped()

    @property
    def surplus(self) -> int:
        """How many stations there are beyond those that can be gone back to."""
        return max(0, len(self._stations) - self._max_stations)

    def dispensable(self) -> set[str]:
        """Return the names of copies that only dropped stations refer to."""
        dropped = self._dropped()
        names = {entry.before.copy for entry in self.entries if entry.station in dropped}
        return names - {entry.before.copy for entry in self.entries if entry.station not in dropped}

    def _dropped(self) -> set[str]:
        return set(islice(self._stations, self.surplus))


def by_path(entries: Iterable[Entry]) -> dict[Path, list[Entry]]:
    """Return the entries of each file, oldest first."""
    found: dict[Path, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry.path, []).append(entry)
    return found
