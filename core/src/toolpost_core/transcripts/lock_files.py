"""Locks for file systems that know none: a file beside the transcript that says which process has it."""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def take(path: Path, taken: Callable[[str], Exception]) -> Callable[[], None]:
    """Make the lock file and return what removes it; raises `taken(owner)` where a live process has it.

    The file of a process that is gone is taken over; of one on another machine nobody can tell, so it is respected.
    Raises OSError where no file can be made.
    """
    while True:
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            held = _read(path)
            if held is None or _lives(held):
                raise taken(_named(held, path)) from None
            _remove_stale(path, held)
            continue
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            json.dump(_own(), file)
        return lambda: path.unlink(missing_ok=True)


def _own() -> dict[str, Any]:
    pid = os.getpid()
    return {"pid": pid, "host": socket.gethostname(), "began": _began(pid)}


def _read(path: Path) -> dict[str, Any] | None:
    """Return what the file says; None where it says nothing yet."""
    with suppress(OSError, ValueError):
        held = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(held, dict) and isinstance(held.get("pid"), int):
            return held
    return None


def _lives(held: dict[str, Any]) -> bool:
    if held.get("host") != socket.gethostname():
        return True
    try:
        os.kill(held["pid"], 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return bool(held.get("began") == _began(held["pid"]))  # the number may be another process's by now


def _named(held: dict[str, Any] | None, path: Path) -> str:
    if held is None:
        return f"its lock file {path} says not which; delete that if there is none"
    if held.get("host") == socket.gethostname():
        return f"pid {held['pid']}"
    return f"pid {held['pid']} on {held.get('host')}; if that is gone, delete {path}"


def _remove_stale(path: Path, held: dict[str, Any]) -> None:
    """Remove the file of a process that is gone; moved aside first, as another may have taken it over by now."""
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(FileNotFoundError):
        path.rename(aside)
        if _read(aside) != held:
            with suppress(FileExistsError):
                os.link(aside, path)
        aside.unlink()


def _began(pid: int) -> str:
    """Return when a process began, in ticks since the machine did; empty where the system does not tell."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[19]
    except (OSError, IndexError, UnicodeDecodeError):
        return ""
