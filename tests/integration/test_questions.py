"""What a person who is asked for permission is shown and offered, with the tools of the standard set."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from mock_messages_api import MockMessagesApi, tool_use, turn

from toolpost import Diff, LaunchOptions, Question, Reply
from toolpost_core.api import open_session


async def asked(folder: Path, *calls: tuple[str, dict[str, str]], always: bool = False) -> list[Question]:
    """Let a model make the calls one after the other, say yes to each, and return the questions."""
    questions: list[Question] = []

    async def ask(question: Question) -> Reply:
        questions.append(question)
        return Reply(allow=True, updates=question.decision.suggestions if always else ())

    async with MockMessagesApi([*(turn(tool_use(name, given)) for name, given in calls), "Done."]) as api:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_API_KEY": "test",
        }
        async with open_session(LaunchOptions(cwd=folder), ask, env=env) as session:
            async for _ in session.submit("go"):
                pass
    return questions


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "notes.txt"
    path.write_text("one\ntwo\nthree\n")
    return path


async def test_an_edit_is_shown_as_the_change_that_it_will_be(file: Path) -> None:
    edit = {"file_path": str(file), "old_string": "two", "new_string": "2"}
    (question,) = await asked(file.parent, ("Read", {"file_path": str(file)}), ("Edit", edit))

    assert question.view == Diff(str(file), "one\ntwo\nthree", "one\n2\nthree", 1)


async def test_a_new_file_is_shown_whole(tmp_path: Path) -> None:
    new = tmp_path / "new.txt"
    (question,) = await asked(tmp_path, ("Write", {"file_path": str(new), "content": "hello\n"}))

    assert question.view == Diff(str(new), None, "hello\n")


async def test_always_for_an_edit_accepts_the_edits_that_follow(tmp_path: Path) -> None:
    writes = [("Write", {"file_path": str(tmp_path / name), "content": "x"}) for name in ("a", "b", "c")]
    questions = await asked(tmp_path, *writes, always=True)

    assert [question.request.tool_input["file_path"] for question in questions] == [str(tmp_path / "a")]


async def test_always_for_a_command_writes_a_rule_that_lets_the_like_of_it_pass(tmp_path: Path) -> None:
    commands = ["git add a", "git add b", "git add c && git gc -q"]
    questions = await asked(tmp_path, *(("Bash", {"command": command}) for command in commands), always=True)

    assert [question.request.tool_input["command"] for question in questions] == [commands[0], commands[2]]
    assert written(tmp_path) == ["Bash(git add:*)", "Bash(git gc -q)"]


def written(folder: Path) -> list[str]:
    settings = json.loads((folder / ".toolpost" / "settings.local.json").read_text())
    return [str(rule) for rule in settings["permissions"]["allow"]]
