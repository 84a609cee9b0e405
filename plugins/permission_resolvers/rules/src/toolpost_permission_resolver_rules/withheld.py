"""The files that a search comes upon and must not read."""

from __future__ import annotations

from pathlib import Path

from toolpost.permissions import PermissionRequest, Rule

from .index import Shelf
from .paths import ANY_NAME, Spellings, absolute, covers, names_in, spellings


class Withheld:
    """Says of a file below the path of an allowed call whether a rule keeps it back.

    A rule that asks keeps a file back unless it covers that path itself: then the call was asked about, and allowed.
    """

    def __init__(self, request: PermissionRequest, files: Shelf) -> None:
        self._scope, self._files = request.scope, files
        self._asked = frozenset(map(id, self._rules_for(_given(request), ("ask",))))

    def __call__(self, file: Path) -> bool:
        """Whether the file, or what it links to, is kept back."""
        return any(id(rule) not in self._asked for rule in self._rules_for((spellings(file),), ("deny", "ask")))

    def _rules_for(self, paths: tuple[Spellings, ...], behaviors: tuple[str, ...]) -> list[Rule]:
        near = self._files.near({name for places in paths for name in names_in(places, self._scope)})
        held = (rule for rule in near if rule.behavior in behaviors and rule.specifier is not None)
        return [rule for rule in held if any(covers(rule, places, self._scope) for places in paths)]


def _given(request: PermissionRequest) -> tuple[Spellings, ...]:
    """The path that the call was decided on, and a name for whatever lies in it."""
    path = absolute(request.path or ".", request.scope)
    if path is None:
        return ()
    places = spellings(path, request.real_path)
    return (places, tuple(place / ANY_NAME for place in places))
