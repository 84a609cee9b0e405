from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from toolpost import Emitter, Exchanged, InstructionsLoaded, Message, Section, SessionScope, Stash
from toolpost.testing import ServiceMap
from toolpost_context_instructions import Instructions, places


class World:
    """A home, a project below it, what was reported, and what was announced. Its session is one conversation."""

    def __init__(self, base: Path) -> None:
        self.home = base / "home"
        self.config = self.home / ".toolpost"
        self.project = self.home / "work" / "project"
        self.managed = base / "etc" / "TOOLPOST.md"
        self.reports: list[str] = []
        self.events: list[InstructionsLoaded] = []
        self.stash = Stash()
        for folder in (self.config, self.project, self.managed.parent):
            folder.mkdir(parents=True)

    def put(self, path: str, text: str) -> Path:
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    async def emit(self, event: object, value: InstructionsLoaded) -> None:
        """Stand in for core's `Emitter`."""
        self.events.append(value)

    def scope(self, **changes: Any) -> SessionScope:
        fields: dict[str, Any] = {
            "session_id": "s",
            "project": self.project,
            "cwd": self.project,
            "home": self.home,
            "config_dir": self.config,
            "report": self.reports.append,
            "stash": self.stash,
            "services": ServiceMap({Emitter: self}),
        }
        return SessionScope(**(fields | changes))

    async def sections(self, plugin: Instructions | None = None, **changes: Any) -> Sequence[Section]:
        return await (plugin or Instructions()).sections(self.scope(**changes))

    async def files(self, **changes: Any) -> list[str]:
        return [str(Path(section.source).relative_to(self.home)) for section in await self.sections(**changes)]

    async def text(self, **changes: Any) -> str:
        return "\n\n".join(section.text for section in await self.sections(**changes))

    async def after_use(self, *paths: str, before: Sequence[Message] = (), **changes: Any) -> list[str]:
        """Return what is told after calls of Read for files of the home."""
        calls: list[Any] = []
        results: list[Any] = []
        for number, path in enumerate(paths):
            given = {"file_path": str(self.home / path)}
            calls.append({"type": "tool_use", "id": f"t{number}", "name": "Read", "input": given})
            results.append({"type": "tool_result", "tool_use_id": f"t{number}", "content": "1\tpass"})
        new: list[Message] = [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]
        exchanged = Exchanged(messages=[*before, *new], new=new)
        return list(await Instructions().reminders(self.scope(**changes), exchanged))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path.resolve())
    monkeypatch.setattr(places, "MANAGED", made.managed)
    return made
