"""Notices what a call left running: tasks and threads of the tool's own code."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

    from toolpost_core.tools.pool import Entry


class Leaks:
    """Tells of each tool once. While another call into the same package runs, what runs may be that one's."""

    def __init__(self) -> None:
        self._running: Counter[str] = Counter()
        self._told: set[str] = set()

    @contextmanager
    def watch(self, entry: Entry, warn: Callable[[str], None]) -> Iterator[None]:
        """Look, after the call of a tool, for what it left."""
        package = type(entry.tool).__module__.partition(".")[0]
        threads = threading.active_count()
        self._running[package] += 1
        try:
            yield
        finally:
            self._running[package] -= 1
            if not self._running[package] and package not in self._told:
                found = [*_tasks(package), *(_threads(package) if threading.active_count() > threads else ())]
                if found:
                    self._told.add(package)
                    warn(
                        f"The tool {entry.tool.name!r} of {entry.plugin!r} ({entry.distribution}) ended its call and left "
                        f"running: {', '.join(found)}. A tool ends what it starts; work that outlives a call belongs to a "
                        "service or the session's stash."
                    )


def _tasks(package: str) -> Iterator[str]:
    current = asyncio.current_task()
    for task in asyncio.all_tasks():
        frame: FrameType | None = getattr(task.get_coro(), "cr_frame", None)
        if task is not current and frame is not None and _is_of(frame, package):
            yield f"the task {_where(frame)}"


def _threads(package: str) -> Iterator[str]:
    frames: dict[int, Any] = sys._current_frames()
    for thread in threading.enumerate():
        frame = frames.get(thread.ident or 0)
        while frame is not None and not _is_of(frame, package):
            frame = frame.f_back
        if frame is not None and thread is not threading.current_thread():
            yield f"the thread {thread.name} in {_where(frame)}"


def _is_of(frame: FrameType, package: str) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == package


def _where(frame: FrameType) -> str:
    return f"{frame.f_code.co_qualname} ({frame.f_code.co_filename}:{frame.f_lineno})"
