"""`/compact` at a stage: what a person picks, and what the session is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from terminal_doubles import ScriptedDoor  # type: ignore[import-not-found]
from test_repl import ScriptedStage  # type: ignore[import-not-found]

from toolpost import SentPrompt
from toolpost_frontend_terminal import commands

FIRST, SECOND, THIRD = "0a1b2c3d-first", "1a1b2c3d-second", "2a1b2c3d-third"


@dataclass
class CompactingDoor(ScriptedDoor):  # type: ignore[misc]
    """A door whose session sent three prompts, the second of which was gone back from."""

    def sent_prompts(self) -> Sequence[SentPrompt]:
        time = "2020-01-02T03:04:05.000Z"
        return [SentPrompt(id=id, text=id[9:], time=time, rewound=id == SECOND) for id in (FIRST, SECOND, THIRD)]


async def compact(argument: str, *picks: int | None) -> tuple[Any, Any]:
    """Run the command; return what the session was told, and the stage."""
    stage, door = ScriptedStage(), CompactingDoor()
    stage.picks = list(picks)
    assert await commands.run("compact", argument, door, stage)
    assert stage.picks == []
    return door.compactions, stage


@pytest.mark.parametrize(
    ("argument", "told"),
    [
        ("", ("", None)),
        ("keep the names", ("keep the names", None)),
        (f"up_to {FIRST[:8]}", ("", ("up_to", FIRST[:8]))),
        (f"from {THIRD} only errors", ("only errors", ("from", THIRD))),
        ("from the tests keep errors only", ("from the tests keep errors only", None)),
        ("from 0a", ("from 0a", None)),
    ],
)
async def test_it_takes_what_matters_or_a_prompt(argument: str, told: Any) -> None:
    compactions, stage = await compact(argument)
    assert compactions == [told]
    assert "The conversation was compacted." in stage.said


async def test_without_an_id_the_person_picks_a_prompt() -> None:
    compactions, stage = await compact("from", 1)
    assert [entry.split(" | ")[0] for entry in stage.offered[0]] == ["third", "first"]
    assert compactions == [("", ("from", FIRST))]


async def test_who_picks_none_leaves_it_as_it_is() -> None:
    compactions, stage = await compact("up_to", None)
    assert compactions == []
    assert "Everything stays as it is." in stage.said
