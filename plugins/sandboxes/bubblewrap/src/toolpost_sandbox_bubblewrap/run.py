"""What is made for one command, until it is finished."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .mounts import Mounts
from .placeholders import Placeholders
from .seccomp import program

if TYPE_CHECKING:
    from toolpost import SandboxPolicy, Violation

    from .network import Network


_MOST_REFUSED: Final = 1_000
"""Refused connections of one command that are kept to be told of."""


@dataclass(frozen=True)
class Prepared:
    """The options of bwrap, what the command inherits, and the connections that were refused so far."""

    options: Sequence[str]
    fds: tuple[int, ...]
    refused: Iterable[Violation]


def prepared(
    policy: SandboxPolicy, network: Network | None, until: AsyncExitStack, *, own_proc: bool = True
) -> Prepared:
    """Make what one command needs; `until` frees it. Raises ToolFailed where the policy can't be kept."""
    mounts = Mounts(policy, own_proc=own_proc)
    until.callback(mounts.close)
    placeholders = Placeholders()
    until.callback(placeholders.release)
    placeholders.hold(mounts.missing)
    filter = _readable(program(unix_sockets=policy.unix_sockets))
    until.callback(os.close, filter)
    refused: dict[Violation, None] = {}

    def hear(violation: Violation) -> None:
        if len(refused) < _MOST_REFUSED:
            refused[violation] = None

    if network is not None:
        until.callback(network.hear(hear))
    own = ("--unshare-pid",) if policy.own_processes else ()
    options = (*own, *mounts.options(), "--seccomp", str(filter))
    return Prepared(options, (filter, *mounts.fds), refused)


def group_inside(pid: int) -> int | None:
    """Return the process group of the command that a bwrap holds; None before it is there.

    It leads a session of its own, together with the process that bwrap leaves beside it, which ignores what we send.
    """
    with contextlib.suppress(OSError, ValueError):
        (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        return int(child) if os.getpgid(int(child)) == int(child) else None
    return None


def _readable(data: bytes) -> int:
    """Return a descriptor that reads as `data`."""
    fd = os.memfd_create("seccomp")
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
