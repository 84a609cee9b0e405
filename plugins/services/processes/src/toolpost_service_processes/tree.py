"""Finds and ends everything that a process started, also what left its group or its session."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from .limit import carries

MARK: Final = "TOOLPOST_PROCESS"
"""The variable that every child inherits; its value begins with the session's mark and tells the call."""

_ROUNDS = 20


def kill_group(group: int, number: int = signal.SIGKILL) -> None:
    """Send a signal to a process group, if there is one."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def group_lives(group: int) -> bool:
    """Whether a process of the group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


async def end_tree(leader: int | None, mark: str) -> None:
    """Kill the group of a process and all that carries its mark or descends from what does; None: no group is left."""
    # The leader dies last: what left its session and its environment is found as its descendant.
    killed = _kill_marked(mark)
    if leader is not None:
        kill_group(leader)
    await _gone(killed)


async def end_marked(mark: str) -> None:
    """Kill all processes whose environment carries a value beginning with `mark`, and wait until they are gone."""
    await _gone(_kill_marked(mark))


def _kill_marked(mark: str) -> set[int]:
    seen: set[int] = set()
    for _ in range(_ROUNDS):
        found = set(_marked(mark)) - seen
        if not found:
            break
        seen |= found
        # First stopped, then killed: what is stopped can't start another one meanwhile.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
    return seen


async def _gone(pids: set[int]) -> None:
    """Wait until killed processes have really ended, at most a second: what the kernel holds can't be waited for."""
    for _ in range(200):
        pids = {pid for pid in pids if _runs(pid)}
        if not pids:
            return
        await asyncio.sleep(0.005)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        if sys.platform != "linux":
            return True
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (OSError, IndexError):
        return False


def _marked(mark: str) -> Iterator[int]:
    if sys.platform == "linux":
        yield from _marked_in_proc(mark)
        return
    import psutil  # type: ignore[import-untyped]

    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARK, "").startswith(mark) and process.status() != psutil.STATUS_ZOMBIE:
                yield process.pid


def _marked_in_proc(mark: str) -> Iterator[int]:
    """Marked processes and their descendants: one that emptied its environment is somebody's child, or has the limit."""
    number, needle = mark.encode(), f"{MARK}={mark}".encode()
    parents: dict[int, int] = {}
    marked: set[int] = set()
    own = os.getpid()
    for entry in os.listdir("/proc"):  # noqa: PTH208 - a third of the time of a Path each
        if not entry.isdigit() or int(entry) == own:
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            state, parent = Path(f"/proc/{entry}/stat").read_bytes().rpartition(b")")[2].split()[:2]
            if state in (b"Z", b"X"):
                continue
            parents[int(entry)] = int(parent)
            if carries(Path(f"/proc/{entry}/limits").read_bytes(), number):
                marked.add(int(entry))
                continue
            environment = Path(f"/proc/{entry}/environ").read_bytes()
            if environment.startswith(needle) or b"\0" + needle in environment:
                marked.add(int(entry))
    for pid in parents:
        line: list[int] = []
        at = pid
        while at in parents and at not in line:
            line.append(at)
            if at in marked:
                yield pid
                break
            at = parents[at]
