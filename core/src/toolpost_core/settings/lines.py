"""The lines on which the values of a JSON text stand."""

from __future__ import annotations

import re
from collections.abc import Mapping
from json import decoder
from typing import Final, TypeAlias

Position: TypeAlias = tuple[str | int, ...]
"""A path of keys and indexes."""

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_SCALAR: Final = re.compile(r"[^\s,\]}]+")


def positions(text: str) -> Mapping[Position, int]:
    """Return the line of each value below the top, counted from 1; of a repeated key, that of the last.

    The text must be valid JSON.
    """
    scan = _Scan(text)
    scan.value(scan.skip(0), ())
    return scan.found


class _Scan:
    def __init__(self, text: str) -> None:
        self._text = text
        self._line, self._seen = 1, 0
        self.found: dict[Position, int] = {}

    def value(self, at: int, path: Position) -> int:
        """Pass over the value at an offset; return the offset behind it."""
        if path:
            self._line += self._text.count("\n", self._seen, at)
            self._seen = at
            self.found[path] = self._line
        match self._text[at]:
            case "{":
                return self._items(at + 1, path, keyed=True)
            case "[":
                return self._items(at + 1, path, keyed=False)
            case '"':
                return _string(self._text, at)[1]
            case _:
                scalar = _SCALAR.match(self._text, at)
                return scalar.end() if scalar else at + 1

    def skip(self, at: int) -> int:
        """Return the offset of what follows white space."""
        space = _SPACE.match(self._text, at)
        return space.end() if space else at

    def _items(self, at: int, path: Position, *, keyed: bool) -> int:
        index = 0
        at = self.skip(at)
        while self._text[at] not in "}]":
            name: str | int = index
            if keyed:
                name, at = _string(self._text, at)
                at = self.skip(self.skip(at) + 1)
            at = self.skip(self.value(at, (*path, name)))
            if self._text[at] == ",":
                at = self.skip(at + 1)
            index += 1
        return at + 1


def _string(text: str, at: int) -> tuple[str, int]:
    scanned: tuple[str, int] = vars(decoder)["scanstring"](text, at + 1, True)
    return scanned
