"""Hooks that come into the settings while a session runs, written by whomever, run only after a person has seen them."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mock_messages_api import MockMessagesApi

from toolpost import LaunchOptions, Notice, Question, Reply
from toolpost_core.api import open_session
from toolpost_core.session.session import Session


class Person:
    """Answers questions as told, and keeps them."""

    def __init__(self, *, allows: bool) -> None:
        self.allows = allows
        self.asked: list[Question] = []

    async def __call__(self, question: Question) -> Reply:
        self.asked.append(question)
        return Reply(allow=self.allows)


class Place:
    """A home with settings, and a project."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.settings = self.home / ".toolpost" / "settings.json"
        self.settings.parent.mkdir(parents=True)
        self.project.mkdir()

    def hooks(self, *names: str, **more: Any) -> None:
        """Have the settings say that each prompt runs a hook that leaves a file of its name."""
        entries = [{"type": "command", "command": f"touch {self.project}/{name}"} for name in names]
        self.settings.write_text(json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": entries}]}, **more}))

    @property
    def ran(self) -> set[str]:
        """The hooks that ran since the last time."""
        found = list(self.project.iterdir())
        for file in found:
            file.unlink()
        return {file.name for file in found}

    @asynccontextmanager
    async def session(self, ask: Any = None) -> AsyncIterator[Session]:
        async with MockMessagesApi(["Done."] * 6) as api:
            env = {
                "PATH": os.environ["PATH"],
                "HOME": str(self.home),
                "ANTHROPIC_BASE_URL": api.url,
                "ANTHROPIC_API_KEY": "test",
            }
            async with open_session(LaunchOptions(cwd=self.project), ask, env=env) as session:
                yield session


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


async def prompted(session: Session) -> str:
    """Run a prompt; return the warnings."""
    return "\n".join([event.text async for event in session.submit("go") if isinstance(event, Notice)])


async def test_a_new_hook_is_put_to_the_person_and_runs_where_they_agree(place: Place) -> None:
    place.hooks("old")
    person = Person(allows=True)
    async with place.session(person) as session:
        await prompted(session)
        place.hooks("old", "new")
        await prompted(session)

    assert place.ran == {"old", "new"}
    (question,) = person.asked
    assert "touch" in str(question.view)
    assert "old" not in str(question.view)


async def test_one_that_they_do_not_agree_to_never_runs_and_is_not_asked_about_again(place: Place) -> None:
    person = Person(allows=False)
    async with place.session(person) as session:
        await prompted(session)
        place.hooks("new")
        warnings = await prompted(session)
        place.hooks("new", model="sonnet")
        await prompted(session)
        assert place.ran == set()
        assert session.hooks() == []

    assert len(person.asked) == 1
    assert "do not run in this session" in warnings


async def test_where_nobody_can_be_asked_it_waits_for_the_next_session(place: Place) -> None:
    async with place.session() as session:
        await prompted(session)
        place.hooks("new")
        warnings = await prompted(session)
        assert place.ran == set()
    async with place.session() as session:
        await prompted(session)

    assert "the next start takes them" in warnings
    assert place.ran == {"new"}


async def test_what_was_there_goes_on_and_what_is_taken_out_goes(place: Place) -> None:
    place.hooks("one", "two")
    async with place.session() as session:
        await prompted(session)
        assert place.ran == {"one", "two"}
        place.hooks("two", "three")
        await prompted(session)
        assert place.ran == {"two"}
        place.hooks("two")
        assert await prompted(session) == ""
        assert place.ran == {"two"}


async def test_an_event_of_another_program_does_not_keep_the_rest_from_being_taken_over(place: Place) -> None:
    place.hooks()
    person = Person(allows=True)
    async with place.session(person) as session:
        await prompted(session)
        hooks = json.loads(place.settings.read_text())["hooks"]
        new = [{"hooks": [{"type": "command", "command": f"touch {place.project}/new"}]}]
        place.settings.write_text(json.dumps({"hooks": {**hooks, "UserPromptSubmit": new, "BeforeTheFlood": []}}))
        told = await prompted(session)

    assert "BeforeTheFlood: there is no such event" in told
    assert place.ran == {"new"}
