"""What was done with a recorded session, handed on once somebody is there to do it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Do: TypeAlias = Callable[[str, Mapping[str, Any]], None]


class Deeds:
    """Hands on as many deeds as there are, and `end` behind the last; before `begin` they wait."""

    def __init__(self, count: int) -> None:
        self._left = count
        self._do: Do | None = None
        self._waiting: list[tuple[str, Mapping[str, Any]]] = []
        self._ended = False

    def begin(self, do: Do) -> None:
        """Hand on what waits, and from now on at once."""
        self._do = do
        waiting, self._waiting = self._waiting, []
        for what, given in waiting:
            self.do(what, given)
        if self._left == 0 or self._ended:
            self.end()

    def do(self, what: str, given: Mapping[str, Any]) -> None:
        """Hand on one."""
        if self._do is None:
            self._waiting.append((what, given))
            return
        self._left -= 1
        self._do(what, given)
        if self._left == 0:
            self.end()

    def end(self) -> None:
        """There are no more, also where that shows before `begin`."""
        self._ended = True
        if self._do is not None:
            self._do("end", {})
