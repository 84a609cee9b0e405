"""`--debug plugins`: tells which plugin writes files, connects or starts processes without having declared it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any, Final, NamedTuple

from toolpost_core.plugins.capabilities import Capabilities
from toolpost_core.plugins.scan import Inventory

WRITES: Final = frozenset({"os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate"})
PROCESSES: Final = frozenset(
    {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "pty.spawn"}
)
SOCKETS: Final = frozenset({"socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo"})
WRITE_FLAGS: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
LINES: Final = {"write": 'filesystem = "write"', "process": "process = true", "network": "network = true"}
"""What a plugin declares to do each thing."""


class Owner(NamedTuple):
    """Whose code a package is; `declared` is None where the package declares nothing."""

    plugin: str
    distribution: str
    declared: Capabilities | None

    def may(self, need: str) -> bool:
        """Whether the package declares a need: `write`, `process` or `network`."""
        if self.declared is None:
            return False
        return self.declared.filesystem == "write" if need == "write" else bool(getattr(self.declared, need))


def owners(inventory: Inventory) -> dict[str, Owner]:
    """Return the top-level packages of all plugins."""
    found: dict[str, Owner] = {}
    for entry in inventory.entries:
        package = entry.module.partition(".")[0]
        found.setdefault(package, Owner(entry.name, entry.distribution, inventory.capabilities(entry)))
    return found


class Auditor:
    """An audit hook. It reports each plugin once for each sort of thing, with the place of its code.

    A thing belongs to the package of the nearest frame that is a plugin's; work that a plugin handed to another thread
    whole has none, and is not seen. Audit hooks can't be taken out: one is for the whole process.
    """

    def __init__(self, packages: Mapping[str, Owner], report: Callable[[str], None]) -> None:
        self._packages = packages
        self._report = report
        self._told: set[tuple[str, str]] = set()
        self._inside = threading.local()

    def install(self) -> None:
        """Begin to listen."""
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        need = _need(event, arguments)
        if need is None or getattr(self._inside, "it", False):
            return
        self._inside.it = True
        try:
            self._judge(need, event, arguments, sys._getframe(1))
        finally:
            self._inside.it = False

    def _judge(self, need: str, event: str, arguments: tuple[Any, ...], frame: FrameType | None) -> None:
        while frame is not None:
            name = str(frame.f_globals.get("__name__", ""))
            if name.startswith("importlib._bootstrap"):
                return  # the interpreter keeps what it compiled
            package = name.partition(".")[0]
            owner = self._packages.get(package)
            if owner is not None:
                if not owner.may(need) and (package, need) not in self._told:
                    self._told.add((package, need))
                    self._report(_said(owner, need, event, arguments, frame))
                return
            frame = frame.f_back


def _need(event: str, arguments: tuple[Any, ...]) -> str | None:
    if event == "open":
        path, mode, flags = arguments
        writes = any(letter in mode for letter in "wax+") if isinstance(mode, str) else bool(flags & WRITE_FLAGS)
        return "write" if writes and path != os.devnull else None
    if event in WRITES:
        return "write"
    if event in PROCESSES:
        return "process"
    if event in SOCKETS:
        is_local = event != "socket.getaddrinfo" and not isinstance(arguments[1], tuple)
        return None if is_local else "network"
    return None


def _said(owner: Owner, need: str, event: str, arguments: tuple[Any, ...], frame: FrameType) -> str:
    what = {"write": "writes", "process": "starts a process", "network": "uses the network"}[need]
    about = next((argument for argument in arguments if isinstance(argument, (str, bytes, tuple, int))), "")
    which = f"the plugin {owner.plugin!r} ({owner.distribution})"
    seen = f"{event} {about!r:.120}, {frame.f_code.co_filename}:{frame.f_lineno}"
    if owner.declared is None:
        return f"{which} {what} ({seen}) and declares nothing: its package has no toolpost.toml"
    return f"{which} {what} ({seen}) and does not declare it: {LINES[need]} is missing in {owner.declared.file}"
