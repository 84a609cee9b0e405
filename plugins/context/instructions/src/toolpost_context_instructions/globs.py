"""Globs over paths: `*` and `?` stop at slashes, `**` is any folders, `[ab]` one character, `{a,b}` alternatives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import chain, islice
from typing import Final

MOST: Final = 1_000
"""Patterns of one rule that are looked at, braces counted out: a file of the workspace wrote them."""
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_WILD = re.compile(r"[*?\[]")


def matches(globs: Sequence[str], path: str) -> bool:
    """Whether one of the globs matches a path with slashes; one without wildcards also stands for what is below it.

    Takes time in proportion to both lengths, whatever the globs are.
    """
    names = path.strip("/").split("/")
    patterns = islice(chain.from_iterable(map(_expanded, globs)), MOST)
    return any(_fits(pattern, names) for pattern in patterns)


def _expanded(glob: str) -> Iterator[list[str]]:
    """Yield the glob's patterns without braces, as names."""
    waiting = [glob.strip()]
    while waiting:
        pattern = waiting.pop()
        braces = _BRACES.search(pattern)
        if braces is None:
            yield _names(pattern)
        else:
            waiting += [pattern[: braces.start()] + one + pattern[braces.end() :] for one in braces[1].split(",")]


def _names(pattern: str) -> list[str]:
    below = pattern.endswith("/") or not _WILD.search(pattern)
    names = [name for name in pattern.removeprefix("./").split("/") if name]
    return [*names, "**"] if below and names else names


def _fits(pattern: Sequence[str], names: Sequence[str]) -> bool:
    places = _after_folders(pattern, {0})
    for name in names:
        ahead = set[int]()
        for place in places:
            if place < len(pattern) and pattern[place] == "**":
                ahead.add(place)
            elif place < len(pattern) and fnmatchcase(name, pattern[place]):
                ahead.add(place + 1)
        places = _after_folders(pattern, ahead)
    return len(pattern) in places


def _after_folders(pattern: Sequence[str], places: set[int]) -> set[int]:
    """Add where one stands if a `**` is for no folder at all."""
    reached = set(places)
    for place, name in enumerate(pattern):
        if name == "**" and place in reached:
            reached.add(place + 1)
    return reached
