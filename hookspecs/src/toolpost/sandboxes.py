"""Sandboxes: how the operating system is made to hold a process in."""

from __future__ import annotations

import errno
import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

from toolpost._frozen import frozen
from toolpost._hooks import hookimpl
from toolpost._plugin import Plugin

if TYPE_CHECKING:
    import socket

    from toolpost.stash import Stash


@frozen()
class Violation:
    """Something that a command tried inside a sandbox and was not let.

    `target` is the path or the host; `why` says what held it back, in a few words.
    """

    action: Literal["write", "read", "connect", "other"]
    target: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.action} {self.target}" + (f": {self.why}" if self.why else "")


class Gateway(Protocol):
    """The way out to the network: a proxy for HTTP, CONNECT and SOCKS5 that lets through what the policy allows."""

    def serve(self, listener: socket.socket, refused: Callable[[Violation], None]) -> Callable[[], None]:
        """Accept connections on a listening socket until what is returned is called, which closes it.

        `refused` is told of each connection that is not let through.
        """


@frozen(kw_only=True)
class SandboxPolicy:
    """What a process may do. Paths are absolute; a longer path wins over a shorter one.

    A `read_only` path that is not there can't be made either. `hidden` ones look empty. Without `network` there is none.
    With it and a `gateway`, the gateway is the only way out; the domains are those that it lets through, for a sandbox
    that tells hosts apart by itself. `unix_sockets` says whether sockets may be opened to programs of this machine,
    `own_processes` whether other processes are out of sight and reach. `stash` is the session's, for what a sandbox keeps
    from one command to the next; its values are closed with the session.
    """

    writable: tuple[Path, ...] = ()
    read_only: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    network: bool = False
    allowed_domains: tuple[str, ...] = ()
    denied_domains: tuple[str, ...] = ()
    gateway: Gateway | None = None
    unix_sockets: bool = False
    own_processes: bool = True
    stash: Stash | None = None


def proxied(env: Mapping[str, str], port: int) -> dict[str, str]:
    """Return an environment in which programs go to the network by a proxy on this machine, such as a `Gateway`'s."""
    url, direct = f"http://127.0.0.1:{port}", "localhost,127.0.0.1,::1"
    names = ("http_proxy", "https_proxy", "all_proxy")
    proxies = {spelling: url for name in names for spelling in (name, name.upper())}
    return {**env, **proxies, "no_proxy": direct, "NO_PROXY": direct, "NODE_USE_ENV_PROXY": "1"}


def open_beneath(root: Path, path: Path) -> int:
    """Open a file or folder below `root` without following a link there, only to name it (`O_PATH` where there is that).

    What lies in a writable folder is the commands' to exchange at any time: who acts on it from outside must not be led
    elsewhere. Raises OSError, ELOOP or ENOTDIR where a link is on the way.
    """
    named = getattr(os, "O_PATH", os.O_RDONLY) | os.O_CLOEXEC
    at = os.open(root, named | os.O_DIRECTORY)
    parts = path.relative_to(root).parts
    for place, part in enumerate(parts):
        last = place == len(parts) - 1
        try:
            following = os.open(part, named | os.O_NOFOLLOW | (0 if last else os.O_DIRECTORY), dir_fd=at)
        finally:
            os.close(at)
        at = following
    if stat.S_ISLNK(os.fstat(at).st_mode):
        os.close(at)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return at


async def _nothing() -> Sequence[Violation]:
    return ()


def _its_own(pid: int) -> int | None:
    del pid
    return None


@frozen(kw_only=True)
class Wrapped:
    """A command as it has to be started to run inside.

    `group` is given the id of the process that was started, and returns the process group that is to be told to end where
    that is not the process's own: a program that holds a command in may end at once, and take it along.
    `finish` is awaited once, after the process ended or where it was never started: it frees what was made for it, closes
    `pass_fds`, and returns what the process tried and was not let.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    pass_fds: tuple[int, ...] = ()
    group: Callable[[int], int | None] = _its_own
    finish: Callable[[], Awaitable[Sequence[Violation]]] = _nothing


class Sandbox(Plugin, ABC):
    """Wraps commands so that they run inside."""

    platform: ClassVar[str]
    """The `sys.platform` that it works on."""

    @abstractmethod
    def unusable(self) -> str | None:
        """Say what is missing on this machine, and how to get it; None if nothing."""

    @abstractmethod
    async def wrap(self, argv: Sequence[str], env: Mapping[str, str], policy: SandboxPolicy) -> Wrapped:
        """Return the command to start instead. Raises ToolFailed where the policy can't be kept."""

    def weaker(self) -> Sandbox | None:
        """Return itself in a form that holds less, for containers in which it can't be used as it is; None if there is none.

        It is taken where `sandbox.enableWeakerNestedSandbox` says so, and only where this one is unusable.
        """
        return None

    @hookimpl(specname="sandboxes")
    def _sandboxes(self) -> Sequence[Sandbox]:
        return (self,)
