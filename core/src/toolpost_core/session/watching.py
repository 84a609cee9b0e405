"""The files that FileChanged listeners want to hear of."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from toolpost import on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from toolpost_core.events.dispatch import Dispatcher

EVERY: Final = 1.0
"""Seconds between two looks while nothing is sent; a look is one stat a file."""
STIRRED: Final = 3
"""Times in a row that a file may change while its listeners run; after that it is they who change it."""

Stamp: TypeAlias = "tuple[int, int, int] | None"


class WatchedFiles:
    """Looks at the time, size and identity of files: before each request, and each second. `cwd` is what names are in."""

    def __init__(self, events: Dispatcher, cwd: Callable[[], Path]) -> None:
        self._events = events
        self._cwd = cwd
        self._stamps: dict[Path, Stamp] = {}
        self._stirred: dict[Path, int] = {}
        self._looking = asyncio.Lock()
        self._watch: asyncio.Task[None] | None = None

    def add(self, paths: Iterable[str]) -> None:
        """Watch more files, which need not be there yet."""
        for path in (self._cwd() / _expanded(text) for text in paths):
            self._stamps.setdefault(path, _stamp(path))
        if self._watch is None and self._stamps:
            self._watch = asyncio.create_task(self._look_again())

    async def look(self) -> None:
        """Tell listeners of each file that is not as it was."""
        async with self._looking:
            for path, before in list(self._stamps.items()):
                now = self._stamps[path] = _stamp(path)
                if now != before:
                    await self._tell(path, "add" if before is None else "unlink" if now is None else "change")
                    self._settle(path, now)

    async def aclose(self) -> None:
        """Watch no longer."""
        if self._watch is not None:
            self._watch.cancel()
            with suppress(asyncio.CancelledError):
                await self._watch

    async def _look_again(self) -> None:
        while True:
            await asyncio.sleep(EVERY)
            await self.look()

    def _settle(self, path: Path, told: Stamp) -> None:
        """A change that was made while listeners ran is told next, but not for ever: a formatter makes one each time."""
        now = _stamp(path)
        self._stirred[path] = self._stirred.get(path, 0) + 1 if now != told else 0
        if self._stirred[path] >= STIRRED:
            self._stamps[path] = now

    async def _tell(self, path: Path, event: Literal["change", "add", "unlink"]) -> None:
        from toolpost.events.files import FileChanged

        outcome = (await self._events.emit(on.file_changed, FileChanged(file_path=path, event=event))).outcome
        if outcome is not None:
            self.add(outcome.watch_paths)


def _expanded(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # there is no such user
        return Path(text)


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except (OSError, ValueError):  # ValueError: what can't be a path is a file that is never there
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
