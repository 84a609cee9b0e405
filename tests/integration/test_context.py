"""What the model is given beside the conversation, as the service gets it: the standard set, real HTTP, real files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from fake_session import fake_session, of_type, run
from mock_messages_api import MockMessagesApi, Request, Step, tool_use, turn
from served_session import opened

from toolpost import ContextSource, Notice, Section, SessionScope
from toolpost.testing import FakeModel

MOST_BYTES: Final = 30_545 // 2
"""Half of what the leanest other agent with a full set of tools sends (opencode 1.18.33, measured)."""


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider looks for its key in the environment of the process."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = (tmp_path / "project").resolve()
    folder.mkdir()
    return folder


def put(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def read(*files: Path) -> Any:
    return turn(*(tool_use("Read", {"file_path": str(file)}, id=f"t{number}") for number, file in enumerate(files)))


def told(request: Request) -> list[str]:
    """Return the texts of the last message; results of calls are none."""
    content = request.body["messages"][-1]["content"]
    return [block["text"] for block in content if block["type"] == "text"]


def reminders(request: Request) -> list[str]:
    return [text for text in told(request) if text.startswith("<system-reminder>")]


def shown(project: Path, *flags: str) -> str:
    """Return what `toolpost context show` prints for the sessions that `opened` opens."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(project.parent / "home"),
        "TOOLPOST_CONFIG_DIR": str(project.parent / "state"),
        "ANTHROPIC_API_KEY": "k",
    }
    command = [sys.executable, "-m", "toolpost_core", "context", "show", *flags]
    return subprocess.run(command, cwd=project, env=env, capture_output=True, check=True, text=True).stdout


async def requests(project: Path, script: Sequence[Step], prompts: Sequence[str] = ("go",), **options: Any) -> Any:
    async with MockMessagesApi(script) as api, opened(api, project, **options) as session:
        for prompt in prompts:
            await run(session, prompt)
    return api.requests


# What is sent first.


def test_a_first_request_with_all_standard_tools_is_half_of_the_leanest_peers(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    with MockMessagesApi(["Hello."]).run_in_thread() as api:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "ANTHROPIC_API_KEY": "k",
            "ANTHROPIC_BASE_URL": api.url,
        }
        command = [sys.executable, "-m", "toolpost_core", "-p", "hi"]
        subprocess.run(command, cwd=project, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        (request,) = api.requests
    assert len(request.body["tools"]) >= 10
    assert len(request.raw) <= MOST_BYTES


async def test_static_text_stands_before_what_a_session_changes_and_both_ends_are_marked(project: Path) -> None:
    (request,) = await requests(project, ["Done."], append_system_prompt="Be brief.")
    first, second = request.body["system"]
    assert first["text"].startswith("You are Toolpost")
    assert str(project) not in first["text"]
    assert f"Working folder: {project}" in second["text"]
    assert second["text"].endswith("Be brief.")
    assert [block.get("cache_control") for block in (first, second)] == [{"type": "ephemeral"}] * 2


async def test_what_is_shown_is_what_is_sent(project: Path) -> None:
    put(project / "AGENTS.md", "Use tabs.")
    (request,) = await requests(project, ["Done."])
    blocks = json.loads(shown(project, "--trust", "--json"))["blocks"]
    tools, system, first = blocks[0], blocks[1:3], blocks[3]
    assert [part["name"] for part in tools["parts"]] == [tool["name"] for tool in request.body["tools"]]
    assert [block["text"] for block in system] == [block["text"] for block in request.body["system"]]
    assert told(request) == [first["text"], "go"]
    assert "Use tabs." in first["text"]


async def test_a_session_that_was_kept_is_shown_with_its_conversation(project: Path) -> None:
    async with MockMessagesApi(["Done."]) as api, opened(api, project) as session:
        await run(session)
        kept = session.id
    table = shown(project, "--session", kept)
    assert "2 messages" in table
    assert "first message" not in table


async def test_an_override_stands_alone(project: Path) -> None:
    options = {"override_system_prompt": "Only this.", "system_prompt": "Mine.", "append_system_prompt": "And this."}
    (request,) = await requests(project, ["Done."], **options)
    assert [block["text"] for block in request.body["system"]] == ["Only this.", "And this."]


# What changes later.


async def test_the_prompt_is_the_same_bytes_until_the_conversation_is_cleared(project: Path) -> None:
    put(project / "AGENTS.md", "Use tabs.")
    async with MockMessagesApi(["One.", "Two.", "Three."]) as api, opened(api, project) as session:
        await run(session, "one")
        put(project / "AGENTS.md", "Use blanks.")
        await run(session, "two")
        await session.clear()
        await run(session, "three")
    first, second, third = api.requests
    assert second.body["system"] == first.body["system"]
    assert second.cache.read >= first.cache.created
    assert "Use blanks." not in second.raw.decode()
    assert "Use blanks." in told(third)[0]


async def test_a_new_day_is_told_once_and_moves_no_cached_byte(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "strftime", lambda form, *_: "2026-12-31")
    async with MockMessagesApi(["One.", "Two.", "Three."]) as api, opened(api, project) as session:
        await run(session, "one")
        monkeypatch.setattr(time, "strftime", lambda form, *_: "2027-01-01")
        await run(session, "two")
        await run(session, "three")
    first, second, third = api.requests
    assert "2026-12-31" in first.body["system"][1]["text"]
    assert second.body["system"] == first.body["system"]
    (reminder,) = reminders(second)
    assert "2027-01-01" in reminder
    assert reminders(third) == []
    assert reminder in third.raw.decode().replace("\\n", "\n")


class Clock(ContextSource):
    """A section that counts how often it was made."""

    made: list[int]

    async def sections(self, scope: SessionScope) -> Sequence[Section]:
        self.made.append(1)
        text = f"made {len(self.made)} times"
        return (
            Section(name="clock.now", text=text, volatile=True, why_volatile="a test counts"),
            Section(name="clock.first", text=text),
        )


async def test_a_volatile_section_is_made_before_each_request_and_stands_last_without_a_mark(tmp_path: Path) -> None:
    model = FakeModel("One.", "Two.")
    async with fake_session(tmp_path, model, Clock(made=[])) as session:
        await run(session)
        await run(session)
    systems = [request.system for request in model.requests]
    first, second = [[block.text for block in system] for system in systems]
    assert first[:2] == second[:2]
    assert (first[1], first[2][:4], second[1]) == ("made 1 times", "made", "made 1 times")
    assert first[2] != second[2]
    assert [block.scope for block in systems[0]] == ["shared", "session", "none"]


class Hasty(ContextSource):
    """Says that its section is volatile, and not why."""

    async def sections(self, scope: SessionScope) -> Sequence[Section]:
        return (Section(name="hasty", text="Quick.", volatile=True),)


async def test_a_volatile_section_without_a_reason_is_refused_by_name(tmp_path: Path) -> None:
    model = FakeModel("Done.")
    async with fake_session(tmp_path, model, Hasty()) as session:
        events = await run(session)
    (warning,) = [notice.text for notice in of_type(events, Notice) if "hasty" in notice.text]
    assert "set why_volatile" in warning
    assert "Quick." not in str(model.requests[0].system)


# Instructions of folders and for files.


async def test_a_folder_whose_file_is_read_brings_its_instructions_once(project: Path) -> None:
    put(project / "AGENTS.md", "Use tabs.")
    nested = put(project / "app" / "CLAUDE.md", "Test with pytest. @more.md")
    put(project / "app" / "more.md", "And mypy.")
    code = put(project / "app" / "deep" / "main.py", "pass\n")
    script = [read(code), read(code, nested), "Done.", "Again."]
    first, second, third, fourth = await requests(project, script, ["go", "again"])
    assert "Test with pytest." not in first.raw.decode()
    own, imported = reminders(second)
    assert own.startswith(f"<system-reminder>\nInstructions from {nested} (of the project):\n\nTest with pytest.")
    assert "And mypy." in imported
    assert second.body["system"] == first.body["system"]
    assert second.cache.read >= first.cache.created
    assert reminders(third) == reminders(fourth) == []


async def test_a_rule_for_certain_files_is_told_when_one_of_them_is_used(project: Path) -> None:
    put(project / ".toolpost" / "rules" / "always.md", "Say please.")
    put(project / ".toolpost" / "rules" / "api.md", '---\npaths:\n  - "src/**/*.{ts,tsx}"\n---\nValidate input.')
    page, other = put(project / "src" / "app" / "page.tsx", "x\n"), put(project / "page.tsx", "x\n")
    first, second, third = await requests(project, [read(other), read(page), "Done."])
    assert "Say please." in told(first)[0]
    assert "Validate input." not in first.raw.decode()
    assert reminders(second) == []
    (reminder,) = reminders(third)
    assert "for src/**/*.{ts,tsx}" in reminder
    assert reminder.endswith("Validate input.\n</system-reminder>")


async def test_a_call_that_was_refused_brings_nothing(project: Path) -> None:
    put(project / "secret" / "AGENTS.md", "The word is rosebud.")
    code = put(project / "secret" / "main.py", "pass\n")
    rules = json.dumps({"permissions": {"deny": ["Read(secret/**)"]}})
    found = await requests(project, [read(code), "Done."], settings=rules)
    assert "rosebud" not in found[1].raw.decode()


async def test_a_resumed_session_is_not_told_again(project: Path) -> None:
    nested = put(project / "app" / "AGENTS.md", "Test with pytest.")
    code = put(project / "app" / "main.py", "pass\n")
    async with MockMessagesApi([read(code), "Done."]) as api, opened(api, project) as session:
        await run(session)
        kept = session.id
    async with MockMessagesApi([read(code), "Done."]) as again, opened(again, project, resume=kept) as session:
        await run(session)
    assert str(nested) in reminders(api.requests[1])[0]
    assert reminders(again.requests[1]) == []
    assert "Test with pytest." in again.requests[1].raw.decode()
