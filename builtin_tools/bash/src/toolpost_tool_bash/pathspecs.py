"""The files that git's operands name: behind a revision, behind the magic of a pathspec, or by a pattern of git's own."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Sequence
from itertools import chain, takewhile
from pathlib import Path
from typing import Final

from .arguments import Argument
from .syntax import words

NAMES_ONLY: Final = words("""
    status ls-files ls-tree rev-parse rev-list branch tag remote worktree config reflog symbolic-ref for-each-ref show-ref
    count-objects check-ignore check-attr describe merge-base name-rev cherry shortlog var version
""")
"""The subcommands that show names and numbers, and nothing of what files hold."""

CLASSES: Final = re.compile(r"\[[^\]\s]*\[:[^\]\s]*:\][^\]\s]*\]")
"""Brackets of a pattern with classes of characters in them."""

_MAGIC = re.compile(r":(?:\(([\w,:=-]*)\)|([/!^]+):?)")
_PATTERN = frozenset("*?[")
_MOST_ENTRIES = 5_000
_MOST_MATCHES = 200


def named(arg: Argument, folders: Sequence[str]) -> list[Path] | None:
    """The files that are there which a pathspec with magic or a pattern covers; None where that is too much to look at.

    What a plain pathspec names is no matter of git's own, and what one excludes is not shown.
    """
    text = CLASSES.sub("?", arg.text)  # what the shell's quotes kept from it is a pattern to git
    magic = _MAGIC.match(text)
    words = {*(magic[1] or "").split(","), *(magic[2] or "")} if magic else set()
    text = text[magic.end() :] if magic else text
    if not arg.known or words & {"exclude", "!", "^"} or not (magic or set(text) & _PATTERN):
        return []
    roots = [_top(folder) if words & {"top", "/"} else Path(folder) for folder in folders]
    if not set(text) & _PATTERN:
        return [root / text for root in roots]
    found: list[Path] = []
    for at, path in enumerate(chain.from_iterable(_matching(*_below(root, text)) for root in roots)):
        if path is None or at >= _MOST_MATCHES:
            return None
        found.append(path)
    return found


def _below(root: Path, pattern: str) -> tuple[Path, str]:
    """A folder and a pattern for what lies below it: git takes `.` and `..` out before it looks for wildcards."""
    whole = Path(os.path.normpath(root / pattern))
    if whole.is_relative_to(root):
        return root, str(whole.relative_to(root))
    fixed = list(takewhile(lambda part: not set(part) & _PATTERN, whole.parts[:-1]))
    return Path(*fixed), os.path.join(*whole.parts[len(fixed) :])  # noqa: PTH118 - a pattern is no path


def _matching(root: Path, pattern: str) -> Iterator[Path | None]:
    """What a pattern covers below a folder, in which its stars pass over slashes; None at the end if it is too much."""
    covers = re.compile(f"{fnmatch.translate(pattern)}|{fnmatch.translate(pattern.rstrip('/') + '/*')}", re.IGNORECASE)
    seen = 0
    for above, folders, files in os.walk(root):
        if ".git" in folders:
            folders.remove(".git")
        seen += len(folders) + len(files)
        if seen > _MOST_ENTRIES:
            yield None
            return
        inside = os.path.relpath(above, root)
        for name in files:
            if covers.match(os.path.normpath(f"{inside}/{name}")):
                yield Path(above, name)


def _top(folder: str) -> Path:
    """The folder of the repository that a folder lies in."""
    places = (Path(folder), *Path(folder).parents)
    return next((place for place in places if os.path.lexists(place / ".git")), Path(folder))
