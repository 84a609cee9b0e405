"""Doing it: all files or none."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Iterable, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from toolpost import Rewound, SessionError, StaleFile

from .copies import Damaged, is_copy
from .entries import FOLDER, LINK, NO_FILE
from .places import make_folder, make_link, remove_empty
from .plan import Step, plan
from .taking import Taking, present

if TYPE_CHECKING:
    from toolpost import Files

    from .book import Book
    from .entries import Entry


class Rewinding:
    """One rewind. It is written down as a change like any other, under an id of its own, and so can be undone."""

    def __init__(self, book: Book, files: Files, prompts: Sequence[str], prompt: str) -> None:
        self._book = book
        self._files = files
        self._prompts = prompts
        self._prompt = prompt

    async def run(self, target: str, *, force: bool) -> Rewound:
        """Rewind, or raise SessionError with everything as it was."""
        planned = await asyncio.to_thread(plan, self._book, target, self._prompts)
        left = tuple(step.shown for step in planned.steps if step.shown.problem)
        wanted = [step for step in planned.steps if not step.shown.problem]
        if not force:
            _refuse_over_changes(wanted)
        if not wanted:
            return Rewound(id="", files=(), left=left)
        station = str(uuid4())
        self._book.write(await asyncio.to_thread(self._keep_present, station, wanted))
        await self._take(wanted, planned.made_folders)
        self._book.tidy()
        return Rewound(id=station, files=tuple(step.shown for step in wanted), left=left)

    def _keep_present(self, station: str, steps: Sequence[Step]) -> list[Entry]:
        taking = Taking(self._book, station, self._prompt)
        entries = [entry for step in steps for entry in taking.file(step.path, step.before.copy, step.before.mode)]
        for entry in entries:
            if entry.before.not_kept:
                raise SessionError(
                    f"Nothing was rewound: of {entry.path} no copy of the present state could be kept, as "
                    f"{entry.before.not_kept}."
                )
        return entries

    async def _take(self, steps: Sequence[Step], made_folders: Set[Path]) -> None:
        goes = [step for step in reversed(steps) if step.before.copy == NO_FILE]  # the inner before the outer
        comes = [step for step in steps if step.before.copy != NO_FILE]
        begun: list[Step] = []
        try:
            await self._step_back(goes, begun)
            remove_empty(made_folders)
            await self._step_back(comes, begun)
            _close_folders((step.path, step.before.copy, step.before.mode) for step in steps)
        except (OSError, StaleFile, Damaged) as error:
            lost = await self._put_back(begun)
            raise SessionError(_failure(begun[-1], error, lost)) from error

    async def _step_back(self, steps: Sequence[Step], begun: list[Step]) -> None:
        """Do the steps, and say in `begun` which."""
        for step in steps:
            begun.append(step)
            await self._bring(step.path, step.before.copy, step.before.mode, expect=step.present)

    async def _put_back(self, steps: Sequence[Step]) -> list[str]:
        """Undo what was done so far; returns where the state before the rewind lies for what could not be put back."""
        lost = []
        for step in reversed(steps):
            try:
                expect = step.present if self._is(step.path, step.present) else step.before.copy
                await self._bring(step.path, step.present, step.mode, expect=expect)
            except (OSError, StaleFile, Damaged):
                kept = f" (what it was: {self._book.copies.folder / step.present})" if is_copy(step.present) else ""
                lost.append(f"{step.path}{kept}")
        with suppress(OSError):
            _close_folders((step.path, step.present, step.mode) for step in steps)
        return lost

    async def _bring(self, path: Path, content: str, mode: int, *, expect: str) -> None:
        """Give a path a content and mode, or remove what is there; `expect` is what is to be there before."""
        if content == NO_FILE:
            self._remove(path, expect)
        elif content.startswith(LINK):
            self._remove(path, expect)
            make_link(path, content.removeprefix(LINK))
        elif content == FOLDER:
            make_folder(path)
            _give_mode(path, mode | stat.S_IRWXU)  # until all is in it, which its own mode may forbid
        else:
            if content != expect:
                data = self._book.copies.read(content)
                await self._files.write_bytes(path, data, expect=expect or None)
            _give_mode(path, mode)

    def _remove(self, path: Path, expect: str) -> None:
        if expect == FOLDER:
            with suppress(OSError):  # it holds something else, or went with the last file in it
                path.rmdir()
            return
        if not self._is(path, expect):
            raise StaleFile(f"{path} was changed while it was being rewound")
        path.unlink(missing_ok=expect == NO_FILE)

    def _is(self, path: Path, content: str) -> bool:
        return present(path) == content


def _close_folders(states: Iterable[tuple[Path, str, int]]) -> None:
    """Give folders their modes, the inner before the outer, which may let nobody in any more. Raises OSError."""
    for path, content, mode in sorted(states, reverse=True):
        if content == FOLDER:
            _give_mode(path, mode)


def _give_mode(path: Path, mode: int) -> None:
    if path.stat().st_mode & 0o7777 != mode:
        path.chmod(mode)


def _refuse_over_changes(steps: Sequence[Step]) -> None:
    changed = [f"{step.path}: {step.shown.by_hand}" for step in steps if step.shown.by_hand]
    if changed:
        raise SessionError(
            "Nothing was rewound, as that would undo changes that may not be the session's:\n  " + "\n  ".join(changed)
        )


def _failure(step: Step, error: Exception, lost: Sequence[str]) -> str:
    reason = getattr(error, "strerror", None) or str(error) or "its copy is damaged"
    text = f"{step.path} could not be rewound: {reason}."
    if not lost:
        return f"{text} All files are as they were before the rewind."
    return f"{text} Some of the other files could not be put back either: {'; '.join(lost)}."
