"""Variables that have a program load code: those of a command must not reach the programs that hold it in.

A folder of the project on `LD_LIBRARY_PATH` would let one command write what bwrap loads for the next, outside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

BARE: Final[Mapping[str, str]] = {"PATH": "/usr/bin:/bin"}
"""An environment for programs of the system that need none."""
_LOADS: Final = ("LD_", "GCONV_PATH", "GLIBC_TUNABLES", "LOCPATH")


def outside(env: Mapping[str, str]) -> dict[str, str]:
    """Return the part of an environment that the programs outside may have."""
    return {name: value for name, value in env.items() if not name.startswith(_LOADS)}


def set_inside(env: Mapping[str, str]) -> Iterator[str]:
    """Yield the options of bwrap that set the rest for the command."""
    for name, value in env.items():
        if name.startswith(_LOADS):
            yield from ("--setenv", name, value)
