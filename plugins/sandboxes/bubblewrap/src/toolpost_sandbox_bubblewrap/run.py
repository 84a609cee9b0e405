"""What is made for one command, until it is finished."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .mounts import Mounts
from .placeholders import Placeholders
from .seccomp import program

if TYPE_CHECKING:
    from toolpost import SandboxPolicy, Violation

    from .network import Network


@dataclass(frozen=True)
class Prepared:
    """The options of bwrap, what the command inherits, and the connections that were refused so far."""

    options: Sequence[str]
    fds: tuple[int, ...]
    refused: Sequence[Violation]


def prepared(policy: SandboxPolicy, network: Network | None, until: AsyncExitStack) -> Prepared:
    """Make what one command needs; `until` frees it. Raises ToolFailed where the policy can't be kept."""
    mounts = Mounts(policy)
    until.callback(mounts.close)
    placeholders = Placeholders()
    until.callback(placeholders.release)
    placeholders.hold(mounts.missing)
    filter = _readable(program(unix_sockets=policy.unix_sockets))
    until.callback(os.close, filter)
    refused: list[Violation] = []
    if network is not None:
        until.callback(network.hear(refused.append))
    own = ("--unshare-pid",) if policy.own_processes else ()
    options = (*own, *mounts.options(), "--seccomp", str(filter))
    return Prepared(options, (filter, *mounts.fds), refused)


def _readable(data: bytes) -> int:
    """Return a descriptor that reads as `data`."""
    fd = os.memfd_create("seccomp")
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd
