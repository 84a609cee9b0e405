"""`LocalFileHistory`: the FileHistory service on this machine's file systems."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from toolpost import Journal, MissingService, SessionError

from .book import Book, folder_name
from .places import below, itself, real
from .taking import Taking, came_with, outcomes, sized

if TYPE_CHECKING:
    from toolpost import FileRewind, Rewound, Services, SessionScope, TurnChanges

    from .entries import Entry

MOST_IN_A_FOLDER: Final = 1_000
"""Files below a folder that is changed as a whole, such as one that is removed, up to which they are kept."""
WORTH_A_THREAD: Final = 1_000_000
OFF_BY_ENV: Final = ("TOOLPOST_DISABLE_FILE_CHECKPOINTING", "CLAUDE_CODE_DISABLE_FILE_CHECKPOINTING")


def why_off(scope: SessionScope) -> str:
    """Return what turns the history off for a session; empty if nothing does."""
    for name in OFF_BY_ENV:
        if scope.env.get(name, "").strip().lower() not in ("", "0", "false", "no", "off"):
            return f"the environment variable {name} is set"
    return "" if scope.settings.get("fileCheckpointingEnabled", True) else "fileCheckpointingEnabled is false"


class LocalFileHistory:
    """Keeps files before they are changed. `off` says why it does not."""

    def __init__(self, scope: SessionScope, *, max_file_bytes: int, max_snapshots: int, off: str = "") -> None:
        self._scope = scope
        self._max_file_bytes = max_file_bytes
        self._max_snapshots = max_snapshots
        self._off = off
        self._book: Book | None = None
        self._turn = asyncio.Lock()
        self._rewinding = False

    async def keep(self, path: Path, *, becomes: bytes | None = None) -> None:
        """Keep the file, or that there is none, before it is changed; of a folder, the files below it."""
        prompt = self._prompt()
        if self._off or self._rewinding or not prompt:
            return
        async with self._turn:
            if self._book is not None and max(_size(path), len(becomes or b"")) < WORTH_A_THREAD:
                entries = self._taken(path, prompt, becomes)
            else:
                entries = await asyncio.to_thread(self._taken, path, prompt, becomes)
            self.book.write(entries)
            self.book.tidy()

    async def settle(self, path: Path) -> None:
        """Take the file as it is now for what the session made of it."""
        prompt = self._prompt()
        if self._off or not prompt:
            return
        async with self._turn:
            changed, unchanged = await asyncio.to_thread(self._settled, path, prompt)
            self.book.write(changed)
            self.book.retract(unchanged)

    async def turns(self) -> Mapping[str, TurnChanges]:
        """What the turn of each prompt changed, by the prompt's id."""
        from .turns import turns

        if self._off:
            return {}
        async with self._turn:
            return await asyncio.to_thread(turns, self.book)

    async def plan(self, prompt_id: str) -> Sequence[FileRewind]:
        """Say what `rewind` would do, by path."""
        from .plan import plan

        self._require_on()
        async with self._turn:
            planned = await asyncio.to_thread(plan, self.book, prompt_id, self._prompts())
        return [step.shown for step in planned.steps]

    async def rewind(self, prompt_id: str, *, force: bool = False) -> Rewound:
        """Bring the files back to what they were before the prompt, or before the rewind of that id."""
        from toolpost import Files

        from .rewinding import Rewinding

        self._require_on()
        files = self._services.get(Files)
        async with self._turn:
            rewinding = Rewinding(self.book, files, self._prompts(), self._prompt())
            self._rewinding = True
            try:
                return await rewinding.run(prompt_id, force=force)
            finally:
                self._rewinding = False

    async def aclose(self) -> None:
        """Remove the copies of a session that leaves no transcript: nobody can go back to them."""
        self._forget()

    @property
    def book(self) -> Book:
        """The history of the conversation at this moment; a new conversation has a new one. Reads the transcript."""
        journal = self._services.get(Journal)
        if self._book is None or self._book.session_id != journal.session_id:
            self._forget()
            history_dir = self._scope.config_dir / "file-history"
            self._book = Book(
                journal,
                history_dir,
                history_dir / folder_name(journal.session_id) if self._lasts else _passing_folder(),
                max_file_bytes=self._max_file_bytes,
                max_stations=self._max_snapshots,
            )
        return self._book

    @property
    def _lasts(self) -> bool:
        """Whether the session leaves a transcript, so that somebody can go back when it has ended."""
        return self._scope.transcript_path is not None

    def _forget(self) -> None:
        if self._book is not None and not self._lasts:
            self._book.copies.clear()

    def _taken(self, path: Path, prompt: str, becomes: bytes | None) -> list[Entry]:
        target, taking = real(path), Taking(self.book, prompt, prompt)
        try:
            if becomes is None and path.is_symlink():
                return [*taking.file(itself(path), None), *self._target_taken(target, taking, None)]
            return self._target_taken(target, taking, becomes)
        except OSError as error:
            return taking.unkept(target, f"it could not be looked at ({error.strerror or error})")

    def _target_taken(self, target: Path, taking: Taking, becomes: bytes | None) -> list[Entry]:
        if target.is_dir():
            return self._folder_taken(target, taking)
        known = becomes is not None and len(becomes) <= self.book.limit
        return taking.file(target, hashlib.sha256(becomes or b"").hexdigest() if known else None)

    def _folder_taken(self, folder: Path, taking: Taking) -> list[Entry]:
        found = list(islice(below(folder), MOST_IN_A_FOLDER + 1))
        limit = self.book.limit
        if len(found) <= MOST_IN_A_FOLDER and sum(size for _, size in found) <= limit:
            return taking.files([folder, *(path for path, _ in found)])
        size = f"{MOST_IN_A_FOLDER:,} files or {sized(limit)}"
        return taking.unkept(folder, f"a command was to change this folder of over {size}: of such no copy is kept")

    def _settled(self, path: Path, prompt: str) -> tuple[list[Entry], list[Entry]]:
        target = real(path)
        try:
            changed, unchanged = outcomes(self.book, target, prompt)
            if path.is_symlink():
                link_changed, link_unchanged = outcomes(self.book, itself(path), prompt)
                changed, unchanged = changed + link_changed, unchanged + link_unchanged
            if target.is_dir():
                found = (inner for inner, _ in islice(below(target), MOST_IN_A_FOLDER))
                changed += came_with(self.book, target, found, prompt)
        except OSError:
            return [], []  # what became of it is not known then, and rewinding says so
        return changed, unchanged

    def _prompts(self) -> list[str]:
        return [prompt.id for prompt in self._services.get(Journal).prompts()]

    def _prompt(self) -> str:
        prompts = self._services.get(Journal).prompts()
        return prompts[-1].id if prompts else ""

    @property
    def _services(self) -> Services:
        if self._scope.services is None:
            raise MissingService("The session offers no services, and so no journal to keep a history in.")
        return self._scope.services

    def _require_on(self) -> None:
        if self._off:
            raise SessionError(f"Files can't be rewound: no history of them is kept, as {self._off}.")


def _passing_folder() -> Path:
    from tempfile import mkdtemp

    return Path(mkdtemp(prefix="toolpost-file-history-"))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
