"""Rules: files below `.toolpost/rules`, some of them for certain paths only."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from toolpost_context_instructions.globs import matches
from toolpost_context_instructions.kinds import Kind

FRONT_CHARS: Final = 10_000
"""What front matter may have; a longer one is text."""
_FRONT = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_PATHS = re.compile(
    r"^paths[ \t]*:[ \t]*(?P<inline>[^\n]*)\n(?P<items>(?:[ \t]*-[ \t][^\n]*\n|[ \t]*\n)*)", re.MULTILINE
)
_OUTSIDE_BRACES = re.compile(r",(?![^{]*\})")


@dataclass(frozen=True)
class Rule:
    """A rule for the files below `base` that its globs match; without globs for all."""

    path: Path
    kind: Kind
    base: Path
    globs: tuple[str, ...]
    text: str

    def is_for(self, file: Path) -> bool:
        """Whether it is for a file."""
        return file.is_relative_to(self.base) and matches(self.globs, file.relative_to(self.base).as_posix())


def rule_files(folder: Path) -> list[Path]:
    """Return the rule files below a folder of rules, in the order of their names; links to folders are not followed."""
    found = [Path(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(".md")]
    return sorted(found)


def without_front(text: str) -> tuple[tuple[str, ...], str]:
    """Return the globs under `paths` in a text's front matter, none where there are none, and the text behind it."""
    front = _FRONT.match(text, 0, FRONT_CHARS)
    if front is None:
        return (), text
    paths = _PATHS.search(front[1])
    return (_globs(paths) if paths else ()), text[front.end() :]


def _globs(paths: re.Match[str]) -> tuple[str, ...]:
    inline = paths["inline"].strip()
    listed = inline[1:-1] if inline[:1] == "[" and inline[-1:] == "]" else inline
    items = [line.strip().removeprefix("-") for line in paths["items"].splitlines()]
    given = (item.strip().strip("\"'").strip() for item in (*_OUTSIDE_BRACES.split(listed), *items))
    return tuple(glob for glob in given if glob)
