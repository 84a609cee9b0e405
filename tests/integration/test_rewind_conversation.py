"""A conversation that goes back to before a prompt: what the model reads then, and what a resume finds."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mock_messages_api import MockMessagesApi, Step, tool_use, turn

from toolpost import Journal, LaunchOptions, SessionError, text_of
from toolpost_core.api import open_session
from toolpost_core.session.session import Session


class Place:
    """A project and the sessions in it; `api` is the mock that the last one asked."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.project.mkdir()
        self._home = folder / "home"
        self.api: MockMessagesApi

    @asynccontextmanager
    async def session(self, *script: Step, **options: Any) -> AsyncIterator[Session]:
        async with MockMessagesApi(script) as self.api:
            env = {
                "PATH": os.environ["PATH"],
                "HOME": str(self._home),
                "ANTHROPIC_BASE_URL": self.api.url,
                "ANTHROPIC_API_KEY": "test",
            }
            chosen = LaunchOptions(cwd=self.project, permission_mode="bypassPermissions", **options)
            async with open_session(chosen, env=env) as session:
                yield session

    def sent(self, request: int = -1) -> list[Any]:
        """Return the messages of a request, without the marks of the cache."""
        messages: list[Any] = json.loads(json.dumps(self.api.requests[request].body["messages"]))
        for message in messages:
            for block in message["content"]:
                block.pop("cache_control", None)
        return messages


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


async def say(session: Session, prompt: str) -> str:
    """Send a prompt and return its id."""
    async for _ in session.submit(prompt):
        pass
    return session.sent_prompts()[-1].id


def said(messages: Any) -> list[str]:
    """Return the last line of what each message says."""
    return [text_of(message).strip().rpartition("\n")[2] for message in messages]


async def test_the_model_no_longer_reads_what_was_said_since(place: Place) -> None:
    (place.project / "a").write_text("x")
    calls = turn(tool_use("Read", {"file_path": str(place.project / "a")}))
    async with place.session("One.", calls, "Two.", "Three.") as session:
        await say(session, "first")
        second = await say(session, "second")
        before = place.sent(1)

        assert await session.rewind_conversation(second) == "second"
        assert said(session.messages) == ["first", "One."]
        await say(session, "third")

        assert said(place.sent()) == ["first", "One.", "third"]
        # What the service has in its cache is asked for with the same bytes.
        assert place.sent()[:2] == before[:2]
        assert [(sent.text, sent.rewound) for sent in session.sent_prompts()] == [
            ("first", False),
            ("second", True),
            ("third", False),
        ]


async def test_going_back_to_the_first_prompt_begins_anew_with_what_opens_a_conversation(place: Place) -> None:
    (place.project / "TOOLPOST.md").write_text("Be brief.")
    async with place.session("One.", "Two.", "Anew.") as session:
        first = await say(session, "first")
        await say(session, "second")
        opening = place.sent(0)

        await session.rewind_conversation(first)
        assert session.messages == ()
        await say(session, "first")
        assert place.sent() == opening


async def test_what_session_start_told_goes_before_the_prompt_that_takes_the_firsts_place(place: Place) -> None:
    hook = {"SessionStart": [{"hooks": [{"type": "command", "command": "echo TOLD AT THE START"}]}]}
    async with place.session("One.", "Anew.", settings=json.dumps({"hooks": hook})) as session:
        first = await say(session, "first")
        await session.rewind_conversation(first)
        await say(session, "other")

    assert "TOLD AT THE START" in json.dumps(place.sent())


async def test_calls_and_results_stay_together(place: Place) -> None:
    two = turn(tool_use("Bash", {"command": "echo 1"}), tool_use("Bash", {"command": "echo 2"}))
    async with place.session(two, "One.", two, "Two.", "Three.") as session:
        await say(session, "first")
        second = await say(session, "second")
        await session.rewind_conversation(second)
        await say(session, "third")

    kinds = [[block["type"] for block in message["content"]] for message in place.sent()]
    assert kinds[1:] == [["tool_use", "tool_use"], ["tool_result", "tool_result"], ["text"], ["text"]]


async def test_a_resume_follows_the_newest_branch(place: Place) -> None:
    async with place.session("One.", "Two.", "Three.") as session:
        await say(session, "first")
        await session.rewind_conversation(await say(session, "second"))
        await say(session, "third")
        name = session.id

    async with place.session("Four.", resume=name) as session:
        assert said(session.messages) == ["first", "One.", "third", "Three."]
        assert [sent.rewound for sent in session.sent_prompts()] == [False, True, False]
        await say(session, "fourth")
    text = next(place.project.parent.glob("home/.toolpost/projects/*/*.jsonl")).read_text()
    assert '"second"' in text, "what was said is kept"


async def test_a_prompt_after_a_resume_is_there_once_however_late_somebody_asks(place: Place) -> None:
    async with place.session("One.") as session:
        await say(session, "first")
        name = session.id
    async with place.session("Two.", resume=name) as session:
        await say(session, "second")
        assert [sent.text for sent in session.sent_prompts()] == ["first", "second"]


async def test_a_resume_right_after_going_back_finds_what_was_gone_back_to(place: Place) -> None:
    async with place.session("One.", "Two.") as session:
        first = await say(session, "first")
        await session.rewind_conversation(await say(session, "second"))
        name = session.id

    async with place.session("Three.", resume=name) as session:
        assert said(session.messages) == ["first", "One."]
        await session.rewind_conversation(first)
    async with place.session("Anew.", resume=name) as session:
        assert session.messages == ()
        await say(session, "anew")
        assert said(place.sent()) == ["anew"]


async def test_a_fork_keeps_where_its_origin_was(place: Place) -> None:
    async with place.session("One.", "Two.") as session:
        await say(session, "first")
        await session.rewind_conversation(await say(session, "second"))
        name = session.id

    async with place.session("Three.", resume=name, fork_session=True) as session:
        assert session.id != name
        await say(session, "third")
        assert said(place.sent()) == ["first", "One.", "third"]


async def test_a_file_is_read_again_before_it_is_changed(place: Place) -> None:
    notes = place.project / "notes"
    notes.write_text("1\n")
    edit = turn(tool_use("Edit", {"file_path": str(notes), "old_string": "1", "new_string": "2"}))
    read = turn(tool_use("Read", {"file_path": str(notes)}))
    async with place.session(read, "Read.", edit, "Refused.", read, edit, "Done.") as session:
        await session.rewind_conversation(await say(session, "read it"))
        await say(session, "change it")
        assert "not been read" in json.dumps(place.sent())
        assert notes.read_text() == "1\n"

        changed = await say(session, "now")
        assert notes.read_text() == "2\n"
        await session.rewind_files(changed)
        assert notes.read_text() == "1\n"


async def test_the_model_is_told_of_files_that_went_back(place: Place) -> None:
    notes = place.project / "notes"
    write = turn(tool_use("Write", {"file_path": str(notes), "content": "x"}))
    async with place.session(write, "Done.", "I see.") as session:
        await session.rewind_files(await say(session, "write it"))
        await say(session, "and now?")

    (last,) = [message for message in place.sent()[-1:] if message["role"] == "user"]
    assert str(notes) in text_of(last)
    assert "set these files back" in text_of(last)


async def test_nothing_goes_back_while_a_prompt_runs(place: Place) -> None:
    async with place.session("One.", "Two.") as session:
        first = await say(session, "first")
        running = session.submit("second")
        await anext(running)
        with pytest.raises(SessionError, match="A prompt is running"):
            await session.rewind_conversation(first)
        with pytest.raises(SessionError, match="A prompt is running"):
            await session.rewind_files(first)
        await running.aclose()


async def test_without_a_transcript_files_go_back_and_the_conversation_does_not(place: Place) -> None:
    notes = place.project / "notes"
    write = turn(tool_use("Write", {"file_path": str(notes), "content": "x"}))
    async with place.session(write, "Done.", persist=False) as session:
        first = await say(session, "write it")
        with pytest.raises(SessionError, match="keeps no transcript"):
            await session.rewind_conversation(first)
        await session.rewind_files(first)
        assert not notes.exists()
    assert not list(place.project.parent.glob("home/.toolpost/file-history/*/*"))


async def test_a_message_that_was_gone_back_from_is_not_gone_back_to_again(place: Place) -> None:
    async with place.session("One.", "Two.") as session:
        await say(session, "first")
        second = await say(session, "second")
        await session.rewind_conversation(second)
        with pytest.raises(SessionError, match="holds no message"):
            await session.rewind_conversation(second)


async def test_a_new_conversation_has_a_history_of_its_own(place: Place) -> None:
    notes = place.project / "notes"
    writes: list[Step] = [turn(tool_use("Write", {"file_path": str(notes), "content": "1"})), "Done."]
    more: list[Step] = [turn(tool_use("Bash", {"command": "echo 2 > notes"})), "Done."]
    async with place.session(*writes, *more) as session:
        await say(session, "write it")
        await session.clear()
        assert session.sent_prompts() == ()
        await session.rewind_files(await say(session, "again"))
        assert notes.read_text() == "1"


async def test_a_plugins_records_cant_pass_for_the_conversation(place: Place) -> None:
    async with place.session("One.") as session:
        await say(session, "first")
        journal = session.services.get(Journal)
        journal.append("acme-note", {"x": 1})
        assert [record["x"] for record in journal.records("acme-note")] == [1]
        with pytest.raises(ValueError, match="'user' records make the conversation"):
            journal.append("user", {})
