"""`/memory` at a stage: what a person is offered, and what they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from terminal_doubles import ScriptedDoor  # type: ignore[import-not-found]
from test_repl import ScriptedStage  # type: ignore[import-not-found]

from toolpost import MemoryFile
from toolpost_frontend_terminal import commands


@dataclass
class Kept:
    """Memories of a test."""

    folder: Path | None

    def list(self) -> Sequence[MemoryFile]:
        assert self.folder is not None
        return [
            MemoryFile(path=path, name=path.stem, description="how to test", type="feedback", saved=1_700_000_000)
            for path in sorted(self.folder.glob("*.md"))
            if path.name != "MEMORY.md"
        ]


async def memory(folder: Path | None, argument: str = "", *picks: int | None) -> Any:
    """Run the command at a stage and return that."""
    stage, door = ScriptedStage(), ScriptedDoor()
    door.memory = lambda: Kept(folder)
    stage.picks = list(picks)
    assert await commands.run("memory", argument, door, stage)
    return stage


async def test_the_person_picks_one_and_sees_its_text(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("- [testing](testing.md): no mocks\n")
    (tmp_path / "testing.md").write_text("Never mock the database.\n")
    stage = await memory(tmp_path, "", 1)
    assert [entry.split(" | ")[0] for entry in stage.offered[0]] == ["MEMORY.md", "testing.md"]
    assert "feedback · 2023-11-1" in stage.offered[0][1]
    assert "Never mock the database." in stage.said


async def test_a_name_shows_that_one(tmp_path: Path) -> None:
    (tmp_path / "testing.md").write_text("Never mock the database.\n")
    assert "Never mock the database." in (await memory(tmp_path, "testing")).said
    assert "There is no memory 'other'" in (await memory(tmp_path, "other")).said


async def test_where_nothing_is_kept_it_says_where_it_would_be(tmp_path: Path) -> None:
    assert str(tmp_path / "none") in (await memory(tmp_path / "none")).said.replace("\n", "")
    assert "Memory is off" in (await memory(None)).said
