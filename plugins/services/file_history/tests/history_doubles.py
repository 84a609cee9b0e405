"""A session that changes files, as the history sees it."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from toolpost import FileRewind, Files, Journal, SessionScope
from toolpost.testing import MemoryJournal, PlainFiles, make_scope
from toolpost_service_file_history import FileHistoryService
from toolpost_service_file_history.history import LocalFileHistory


class BreakableFiles(PlainFiles):
    """Files of which those of one name can't be written."""

    broken = ""

    async def write_bytes(self, path: Path, data: bytes, *, expect: str | None = None) -> None:
        if path.name == self.broken:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        await super().write_bytes(path, data, expect=expect)


class Sitting:
    """A project and a session in it. `again` is the same session after the program was ended."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder / "project"
        self.folder.mkdir()
        self.journal = MemoryJournal()
        self._settings = settings
        self._files = BreakableFiles()
        self._transcript: Path | None = folder / "transcript.jsonl"
        self.history = self._open()

    @property
    def copies(self) -> Path:
        """Where the session's copies lie."""
        return self.scope.config_dir / "file-history" / self.journal.session_id

    def again(self) -> None:
        self.history = self._open()

    def fork(self, session_id: str) -> None:
        """Go on in a copy of the session."""
        self.journal = replace(self.journal, session_id=session_id, appended=list(self.journal.appended))
        self.history = self._open()

    async def write(self, name: str, content: str | bytes) -> Path:
        """Write a file as `Files` does."""
        path, data = self.folder / name, content.encode() if isinstance(content, str) else content
        await self.history.keep(path, becomes=data)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    async def turn(self, prompt: str, changes: Mapping[str, str]) -> None:
        """Let the turn of a prompt write files."""
        self.journal.send(prompt)
        for name, content in changes.items():
            await self.write(name, content)

    async def planned(self, prompt: str) -> dict[str, FileRewind]:
        """Say what rewinding would do, by the file's name."""
        return {str(file.path.relative_to(self.folder)): file for file in await self.history.plan(prompt)}

    def files(self) -> dict[str, str]:
        """Return what the project holds."""
        found = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_text() for path in found}

    def forget_transcript(self) -> None:
        """Go on as a session that keeps none."""
        self._transcript = None
        self.history = self._open()

    def break_writes_of(self, name: str) -> None:
        """Let no file of that name be written any more."""
        self._files.broken = name

    def _open(self) -> LocalFileHistory:
        self.scope: SessionScope = make_scope(
            self.folder,
            services={Journal: self.journal, Files: self._files},
            home=self.folder.parent / "home",
            transcript_path=self._transcript,
        )
        made = FileHistoryService(**self._settings)._make(self.scope)
        assert isinstance(made, LocalFileHistory)
        return made
