"""Where a command line's relative paths lead: the folders it may be in, and the values that are sure."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from .arguments import Argument

_MOST_MATCHES = 500
_MOST_FOLDERS = 4


@dataclass
class Place:
    """The folders that the shell may be in at a point of the line; none where that can't be said."""

    folders: tuple[str, ...]
    values: dict[str, str | None]
    functions: set[str] = field(default_factory=set)

    def copy(self) -> Place:
        """A subshell's own place."""
        return Place(self.folders, dict(self.values), set(self.functions))

    def move(self, folders: tuple[str, ...], *, sure: bool) -> None:
        """Go on in other folders; unless `sure`, the shell may as well have stayed where it was."""
        both = folders if sure else tuple(dict.fromkeys((*self.folders, *folders)))
        self.folders = both if len(both) <= _MOST_FOLDERS and folders else ()
        self.values["PWD"] = self.folders[0] if len(self.folders) == 1 else None

    def lose(self) -> None:
        """Go on without knowing where."""
        self.move((), sure=True)

    def paths(self, arg: Argument) -> list[Path] | None:
        """The files that an argument may name; None where that is only known once the line runs."""
        if not arg.known:
            return None
        if arg.text.startswith("/"):
            spellings = [arg.text]
        elif not self.folders:
            return None
        else:
            spellings = [os.path.join(folder, arg.text) for folder in self.folders]  # noqa: PTH118 - keeps `..` and `.`
        if not arg.wild:
            return [Path(spelling) for spelling in spellings]
        found: list[Path] = []
        for spelling in spellings:
            matched = list(islice(_glob(spelling), _MOST_MATCHES + 1))
            if len(matched) > _MOST_MATCHES:
                return None
            found.extend(Path(match) for match in matched)
            found.append(_base(spelling))
        return found


def _glob(pattern: str) -> Iterator[str]:
    return glob.iglob(pattern.replace("[^", "[!"))  # noqa: PTH207 - Path.glob wants relative patterns


def _base(pattern: str) -> Path:
    """The deepest folder in front of the first wildcard."""
    parts = Path(pattern).parts
    first = next((i for i, part in enumerate(parts) if set(part) & set("*?[")), len(parts))
    return Path(*parts[:first])
