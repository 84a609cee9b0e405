"""What lies below a folder that a command reads or changes as a whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, NamedTuple

from .paths import Spellings, spellings

MOST_ENTRIES: Final = 50_000
"""Entries that are looked at before a folder is too big to look through: a quarter of a second where they are cached."""
MOST_FOUND: Final = 5_000
"""Entries of which rules are asked, each of which takes ten times as long."""
_NOT_HIDDEN: Final = "[!.]*"


class Tree(NamedTuple):
    """A folder, and a pattern of the names below it that are meant; empty for all. `[!.]*` passes over hidden folders."""

    folder: Path
    names: str = ""


def tree_of(path: Path) -> Tree | None:
    """The tree that a path ending in `**`, or in `**` and a pattern of names, stands for; None for one of its own."""
    if path.name == "**":
        return Tree(path.parent)
    return Tree(path.parent.parent, path.name) if path.parent.name == "**" else None


def below(tree: Tree, matters: Callable[[str], bool]) -> Iterator[Spellings] | None:
    """The spellings of what lies there with a name that matters, or in a folder of such a name; links always matter.

    None where that is too much to look at.
    """
    roots = spellings(tree.folder)
    found: list[Spellings] = []
    seen, waiting = 0, [("", False)]
    while waiting:
        folder, all_matters = waiting.pop()
        for entry in _entries(tree.folder / folder):
            seen += 1
            if seen > MOST_ENTRIES or len(found) > MOST_FOUND:
                return None
            name = entry.name
            if tree.names == _NOT_HIDDEN and name.startswith("."):
                continue
            link = entry.is_symlink()
            wanted = all_matters or link or matters(name)
            relative = f"{folder}/{name}" if folder else name
            if not link and entry.is_dir():
                waiting.append((relative, wanted))
            if wanted and (not tree.names or fnmatchcase(name, tree.names)):
                places = tuple(root / relative for root in roots)
                found.append((*places, Path(os.path.realpath(places[-1]))) if link else places)
    return iter(found)


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:
        return
