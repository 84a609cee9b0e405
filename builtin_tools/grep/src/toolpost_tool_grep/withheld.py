"""Takes out of ripgrep's output what it found in files that permissions keep back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, Literal, TypeAlias

Mode: TypeAlias = Literal["content", "files_with_matches", "count"]
_BINARY: Final = b": binary file matches ("


def without(raw: bytes, mode: Mode, folder: Path, withheld: Callable[[Path], bool]) -> bytes:
    """Return the output of a search that ran in `folder` without all that tells of files that are kept back."""
    names = _Names(folder, withheld)
    if mode == "files_with_matches":
        return b"".join(name + b"\0" for name in raw.split(b"\0")[:-1] if names.may_tell(name))
    return b"".join(line + b"\n" for line in _lines(raw, names))


def _lines(raw: bytes, names: _Names) -> Iterator[bytes]:
    """Yield the lines that may stay: all have the file's name and a NUL in front but for marks and remarks."""
    before: list[bytes] = []
    for line in raw.removesuffix(b"\n").split(b"\n"):
        name, nul, _ = line.partition(b"\0")
        if not nul:
            # It is a mark or a remark, or the beginning of a name with a line break in it.
            before.append(line)
            if line == b"--" or (_BINARY in line and names.may_tell(line.partition(_BINARY)[0])):
                yield line
            continue
        if all(names.may_tell(b"\n".join((*before[at:], name))) for at in range(len(before) + 1)):
            yield line
        before = []


class _Names:
    """Asks once about each name that stands in the output."""

    def __init__(self, folder: Path, withheld: Callable[[Path], bool]) -> None:
        self._folder, self._withheld = folder, withheld
        self._known: dict[bytes, bool] = {}

    def may_tell(self, name: bytes) -> bool:
        """Whether the file of this name may be told of."""
        if name not in self._known:
            self._known[name] = not self._withheld(self._folder / os.fsdecode(name))
        return self._known[name]
