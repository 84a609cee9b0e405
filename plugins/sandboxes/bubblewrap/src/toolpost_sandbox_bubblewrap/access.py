"""From a policy to the access that each path is to have."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from toolpost import SandboxPolicy

Access: TypeAlias = Literal["writable", "read_only", "hidden"]
Places: TypeAlias = Mapping[Path, Access]


def places(policy: SandboxPolicy) -> Places:
    """Return the real paths with their access, the strictest where one is named twice, shorter paths first."""
    named: dict[Path, Access] = {}
    for path in policy.writable:
        if path.exists():
            named[_real(path)] = "writable"
    for path in policy.read_only:
        named[_standing_for(path)] = "read_only"
    for path in policy.hidden:
        if path.exists():
            named[_real(path)] = "hidden"
    kept = {path: access for path, access in named.items() if access != "read_only" or _matters(path, named)}
    complete: dict[Path, Access] = {**dict.fromkeys(_ways(kept), "writable"), **kept}
    return dict(sorted(complete.items(), key=lambda place: len(place[0].parts)))


def writable_around(path: Path, among: Places) -> Path | None:
    """Return the outermost writable folder that a path lies in: what is below is the commands' to exchange."""
    return next((parent for parent in reversed(path.parents) if among.get(parent) == "writable"), None)


def _standing_for(path: Path) -> Path:
    """The path itself; where it is missing, the first folder on the way to it that is: what is not there holds nothing."""
    real = _real(path)
    while not os.path.lexists(real) and not real.parent.exists():
        real = real.parent
    return real


def _matters(path: Path, named: Places) -> bool:
    """Whether a read-only path lies in something that is not: a missing one needs nothing elsewhere."""
    around = next((named[parent] for parent in path.parents if parent in named), "read_only")
    return around != "read_only" and (around == "writable" or path.exists())


def _ways(named: Places) -> Iterator[Path]:
    """The folders between a writable one and what it must not touch: a mount of its own can't be moved out of the way."""
    for path, access in named.items():
        between: list[Path] = []
        for parent in path.parents if access != "writable" else ():
            if parent in named:
                yield from between if named[parent] == "writable" else ()
                break
            between.append(parent)


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
