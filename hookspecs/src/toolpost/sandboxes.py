"""Sandboxes: how the operating system is made to hold a process in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from toolpost._hooks import hookimpl
from toolpost._plugin import Plugin


@dataclass(frozen=True, kw_only=True)
class SandboxPolicy:
    """What a process may do. Paths are absolute; a longer path wins over a shorter one."""

    writable: tuple[Path, ...] = ()
    read_only: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    network: bool = False
    allowed_domains: tuple[str, ...] = ()
    denied_domains: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Wrapped:
    """A command as it has to be started to run inside."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    pass_fds: tuple[int, ...] = ()


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

    @hookimpl(specname="sandboxes")
    def _sandboxes(self) -> Sequence[Sandbox]:
        return (self,)
