"""Values as they are compared: without secrets, and without the names of folders, which differ from place to place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any


class Comparable:
    """Makes values comparable. `places` are folders by name, those of the recording and those of now.

    A session that is played has both: results of calls name the folders of the recording.
    """

    def __init__(self, places: Sequence[Mapping[str, str]], redact: Callable[[Any], Any]) -> None:
        named = {(folder, name) for one in places for name, folder in one.items() if len(folder) > 1}
        self._places = sorted(named, key=lambda place: len(place[0]), reverse=True)
        self._redact = redact

    def __call__(self, value: Any) -> Any:
        """Return a JSON value as it is compared."""
        return self._placed(self._redact(value))

    def _placed(self, value: Any) -> Any:
        if isinstance(value, str):
            for folder, name in self._places:
                value = value.replace(folder, f"${{{name}}}")
            return value
        if isinstance(value, Mapping):
            return {key: self._placed(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self._placed(one) for one in value]
        return value
