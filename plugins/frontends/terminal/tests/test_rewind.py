"""`/rewind` at a stage: what a person is shown and offered, and what is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from terminal_doubles import ScriptedDoor  # type: ignore[import-not-found]
from test_repl import ScriptedStage  # type: ignore[import-not-found]

from toolpost import FileRewind, MissingService, Rewound, SentPrompt, TurnChanges
from toolpost_frontend_terminal import commands

HERE = Path("/project")
CHANGED = FileRewind(path=HERE / "app.py", change="changed", added=2, removed=1)
CREATED = FileRewind(path=HERE / "new.py", change="created", added=0, removed=9)
BY_HAND = FileRewind(path=HERE / "app.py", change="changed", added=2, removed=1, by_hand="it was changed by hand")
BIG = FileRewind(path=Path("/else/big.bin"), change="changed", problem="it was over 64 MB")


@dataclass
class RewindingDoor(ScriptedDoor):  # type: ignore[misc]
    """A door whose session sent three prompts, the second of which was gone back from."""

    cwd: Path = HERE
    files: Sequence[FileRewind] | None = (CHANGED, CREATED)
    done: list[Any] = field(default_factory=list)

    def sent_prompts(self) -> Sequence[SentPrompt]:
        texts = {"p1": "first\nmore", "p2": "second", "p3": "third " * 20}
        times = "2020-01-02T03:04:05.000Z"
        return [SentPrompt(id=id, text=text, time=times, rewound=id == "p2") for id, text in texts.items()]

    async def turn_changes(self) -> Mapping[str, TurnChanges]:
        self._history()
        return {"p1": TurnChanges(files=2, added=3, removed=1)}

    async def plan_rewind(self, message_id: str) -> Sequence[FileRewind]:
        return self._history()

    async def rewind_files(self, message_id: str, *, force: bool = False) -> Rewound:
        self.done.append((message_id, force))
        return Rewound(id="undo-id", files=[file for file in self._history() if not file.problem])

    async def rewind_conversation(self, message_id: str) -> str:
        self.done.append(message_id)
        return "first\nmore"

    def _history(self) -> Sequence[FileRewind]:
        if self.files is None:
            raise MissingService("nobody keeps files")
        return self.files


async def rewind(door: RewindingDoor, *picks: int | None, argument: str = "") -> ScriptedStage:
    stage = ScriptedStage()
    stage.picks = list(picks)
    assert await commands.run("rewind", argument, door, stage)
    assert stage.picks == []
    return stage


async def test_the_prompts_are_offered_newest_first_with_what_their_turns_changed() -> None:
    stage = await rewind(RewindingDoor(), None)

    third, first = stage.offered[0]
    assert third.startswith("third third")
    assert "… | 2020-01-02" in third
    assert third.endswith("no files")
    assert first.startswith("first more | 2020-01-02")
    assert first.endswith("2 files +3 −1")
    assert "Everything stays as it is" in stage.said


async def test_each_file_is_shown_before_anything_is_done() -> None:
    door = RewindingDoor(files=(CHANGED, CREATED, BIG))
    stage = await rewind(door, 1, None)

    assert "app.py" in stage.said
    assert "+2 −1" in stage.said
    assert "new.py" in stage.said
    assert "/else/big.bin" in stage.said
    assert "stays: it was over 64 MB" in stage.said
    assert stage.offered[1] == ["Files and conversation", "Files", "Conversation", "Nothing"]
    assert door.done == []


@pytest.mark.parametrize(
    ("pick", "done", "filled"),
    [(0, [("p1", False), "p1"], "first\nmore"), (1, [("p1", False)], ""), (2, ["p1"], "first\nmore"), (3, [], "")],
)
async def test_what_was_picked_goes_back(pick: int, done: list[Any], filled: str) -> None:
    door = RewindingDoor()
    stage = await rewind(door, 1, pick)

    assert (door.done, stage.filled) == (done, filled)
    assert ("To undo that: /rewind undo-id" in stage.said) is (pick < 2)


async def test_changes_by_hand_take_a_yes_of_their_own() -> None:
    door = RewindingDoor(files=(BY_HAND, CREATED))
    stage = await rewind(door, 1, 0, 0)
    assert "app.py: it was changed by hand" in stage.said
    assert door.done == []

    await rewind(door, 1, 1, 1)
    assert door.done == [("p1", True)]


async def test_where_no_file_can_go_back_only_the_conversation_is_offered() -> None:
    for files, told in (((), "All files are what they were"), ((BIG,), "over 64 MB"), (None, "nobody keeps files")):
        door = RewindingDoor(files=files)
        stage = await rewind(door, 0, 0)
        assert stage.offered[1] == ["Conversation", "Nothing"]
        assert told in stage.said
        assert door.done == ["p3"]


async def test_an_id_undoes_a_rewind() -> None:
    door = RewindingDoor()
    await rewind(door, argument="undo-id")

    assert door.done == [("undo-id", False)]


async def test_without_prompts_there_is_nothing_to_go_back_to() -> None:
    stage = ScriptedStage()

    class Fresh(RewindingDoor):
        def sent_prompts(self) -> Sequence[SentPrompt]:
            return ()

    assert await commands.run("rewind", "", Fresh(), stage)
    assert "no prompt to go back to" in stage.said
