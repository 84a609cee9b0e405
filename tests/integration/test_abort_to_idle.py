"""From an abort to an idle session: wherever a turn is, with every call answered and no process left."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from fake_session import of_type, result_of, run, texts
from mock_messages_api import MockMessagesApi, Step, cut, error, pause, tool_use, turn
from served_session import following, opened, until

from toolpost import AbortReason, LaunchOptions, Question, Reply, Retrying, RunResult, Streaming
from toolpost_core.api import open_session
from toolpost_core.loop import recover
from toolpost_core.session.session import Session
from toolpost_core.transcripts.history import read

LIMIT = 0.2
TRIES = 5
"""How often an abort is timed: the best counts, as a machine that others use may hold up any one."""


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider looks for its key in the environment of the process."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "")
    monkeypatch.setattr(recover, "FIRST_WAIT", recover.LONGEST_BACK_OFF)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = (tmp_path / "project").resolve()
    folder.mkdir()
    return folder


def bash(command: str, id: str = "t1") -> Any:
    return tool_use("Bash", {"command": command}, id=id)


def processes_with(mark: str) -> list[str]:
    """Return the command lines of all processes that have a text in theirs."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal() or int(folder.name) == os.getpid():
            continue
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if mark in line:
            found.append(line)
    return found


def assert_answered(session: Session) -> None:
    """Each call of the conversation has its one result, in the next message."""
    open_calls: list[str] = []
    for message in session.messages:
        blocks: Any = message["content"] if isinstance(message["content"], list) else []
        assert [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"] == open_calls
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
    assert open_calls == []


@dataclass(frozen=True)
class Scene:
    """A turn that is under way."""

    api: MockMessagesApi
    project: Path
    events: list[Any]

    def has(self, name: str) -> bool:
        """Whether a command made a file."""
        return (self.project / name).exists()


@dataclass(frozen=True)
class Situation:
    """Where a turn stands: `script` gets it there, `there` says when it is, `ends` is the terminal reason.

    The script is given a number that its commands have in theirs, and so has the command of `hook`.
    """

    script: Callable[[str], list[Step]]
    there: Callable[[Scene], Any]
    ends: str
    hook: str = ""

    def settings(self, mark: str) -> str:
        """Return the settings with the situation's hook."""
        command = {"type": "command", "command": f"touch hooked; exec sleep {mark}"}
        return json.dumps({"hooks": {self.hook: [{"hooks": [command]}]}} if self.hook else {})


def is_retrying(scene: Scene) -> bool:
    return any(isinstance(event.event, Retrying) for event in of_type(scene.events, Streaming))


def hooked(scene: Scene) -> bool:
    return scene.has("hooked")


def ran(scene: Scene) -> bool:
    return scene.has("log")


BUSY = error(529, "overloaded_error", "Overloaded", {"retry-after": "60"})
SITUATIONS = {
    "while the model answers": Situation(
        lambda mark: [turn("Half", pause(60.0))], lambda scene: of_type(scene.events, Streaming), "aborted_streaming"
    ),
    "before the first byte": Situation(
        lambda mark: [turn("late", delay=60.0)], lambda scene: scene.api.requests, "aborted_streaming"
    ),
    "while a request waits to be sent again": Situation(lambda mark: [BUSY], is_retrying, "aborted_streaming"),
    "while an answer that broke off waits to be asked for again": Situation(
        lambda mark: [turn("Half", pause(0.02), cut())], is_retrying, "aborted_streaming"
    ),
    "while a command runs": Situation(
        lambda mark: [turn(bash(f"touch log; sleep {mark} & sleep {mark} | cat"))], ran, "aborted_tools"
    ),
    "while a command runs that does not listen, and others wait": Situation(
        lambda mark: [turn(*(bash(f"touch log; trap '' TERM; sleep {mark}", f"t{number}") for number in range(4)))],
        ran,
        "aborted_tools",
    ),
    "while the model still writes and a command runs": Situation(
        lambda mark: [turn(bash(f"touch log; sleep {mark}"), pause(60.0))], ran, "aborted_streaming"
    ),
    "in a hook before a call": Situation(lambda mark: [turn(bash("true"))], hooked, "aborted_tools", "PreToolUse"),
    "in a hook after a call": Situation(lambda mark: [turn(bash("true"))], hooked, "aborted_tools", "PostToolUse"),
    "while a command runs whose failure a hook hears of": Situation(
        lambda mark: [turn(bash(f"touch log; sleep {mark}"))], ran, "aborted_tools", "PostToolUseFailure"
    ),
    "in a hook at the end": Situation(lambda mark: ["Done."], hooked, "aborted_tools", "Stop"),
    "in a hook before the prompt": Situation(lambda mark: [], hooked, "aborted_streaming", "UserPromptSubmit"),
    "in a hook as the session begins": Situation(lambda mark: [], hooked, "aborted_streaming", "SessionStart"),
}


async def cancelled(situation: Situation, project: Path, mark: str) -> tuple[float, list[Any]]:
    """Bring a turn to where it stands, cancel it, and return the seconds to its end, with its events."""
    for name in ("log", "hooked"):
        (project / name).unlink(missing_ok=True)
    async with (
        MockMessagesApi(situation.script(mark)) as api,
        opened(api, project, settings=situation.settings(mark)) as session,
    ):
        async with following(session) as events:
            await until(lambda: situation.there(Scene(api, project, events)))
            started = time.perf_counter()
            session.interrupt()
            await until(lambda: of_type(events, RunResult))
            took = time.perf_counter() - started
        assert_answered(session)
    return took, events


@pytest.mark.parametrize("name", SITUATIONS)
@pytest.mark.requirement("abort.to_idle")
async def test_a_cancelled_turn_ends_at_once_and_leaves_nothing_behind(name: str, project: Path) -> None:
    situation, times = SITUATIONS[name], []
    for _ in range(TRIES):
        mark = f"{uuid4().int % 10**9 + 10**9}"
        took, events = await cancelled(situation, project, mark)
        times.append(took)
        assert result_of(events).terminal_reason == situation.ends
        await until(lambda mark=mark: not processes_with(mark))
        if took <= LIMIT:
            break
    assert min(times) <= LIMIT, times


@pytest.mark.requirement("abort.to_idle")
@pytest.mark.parametrize("reason", ["user_cancel", "interrupt", "engine_stop"])
async def test_the_model_reads_that_the_person_interrupted_it_and_of_nothing_else(
    reason: AbortReason, project: Path
) -> None:
    script: list[Step] = [turn("Half", pause(60.0)), "Next."]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        async with following(session) as events:
            await until(lambda: of_type(events, Streaming))
            started = time.perf_counter()
            session.interrupt(reason)
            await until(lambda: of_type(events, RunResult))
        took = time.perf_counter() - started
        assert result_of(await run(session, "and now?")).text == "Next."

    assert result_of(events).terminal_reason == "aborted_streaming"
    said = str(api.requests[1].body["messages"])
    assert ("interrupted the turn here" in said) == (reason != "engine_stop")
    assert "Half" in said, "what was said stays said"
    assert took < LIMIT


@pytest.mark.requirement("abort.to_idle")
async def test_a_question_that_nobody_answered_is_taken_back(project: Path) -> None:
    asked = asyncio.Event()

    async def ask(question: Question) -> Reply:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError(question)

    async with MockMessagesApi([turn(bash("touch made")), "Next."]) as api:
        launch = LaunchOptions(cwd=project, permission_mode="default", trust=True)
        env = {"PATH": os.environ["PATH"], "HOME": str(project.parent / "home"), "ANTHROPIC_API_KEY": "test"}
        async with open_session(launch, ask, env={**env, "ANTHROPIC_BASE_URL": api.url}) as session:
            async with following(session) as events:
                await asked.wait()
                started = time.perf_counter()
                session.interrupt()
                await until(lambda: of_type(events, RunResult))
            took = time.perf_counter() - started
            assert_answered(session)
            assert result_of(await run(session, "and now?")).text == "Next."

    assert result_of(events).terminal_reason == "aborted_tools"
    assert not (project / "made").exists()
    assert took < LIMIT


async def test_a_command_is_let_finish_where_the_person_only_has_something_to_say(project: Path) -> None:
    command = "touch log; until test -e go; do sleep 0.01; done; echo finished"
    async with MockMessagesApi([turn(bash(command)), "Next."]) as api, opened(api, project) as session:
        async with following(session) as events:
            await until((project / "log").exists)
            session.interrupt("interrupt")
            (project / "go").touch()
        await run(session, "stop that")

    assert result_of(events).terminal_reason == "aborted_tools"
    assert "finished" in texts(events)["t1"]
    assert "interrupted the turn here" in str(api.requests[1].body["messages"][-1])


async def test_what_a_command_had_printed_is_there_for_the_person_and_for_the_model(project: Path) -> None:
    command = "echo first of many; touch log; sleep 300"
    async with MockMessagesApi([turn(bash(command)), "Next."]) as api, opened(api, project) as session:
        async with following(session) as events:
            await until((project / "log").exists)
            session.interrupt()
        await run(session, "what did it print?")

    assert "first of many" in texts(events)["t1"]
    assert "first of many" in str(api.requests[1].body["messages"][-1]["content"][0])


@pytest.mark.requirement("abort.to_idle")
async def test_a_summary_that_is_being_written_is_called_off_too(project: Path) -> None:
    long = "Something was said. " * 2_000
    too_long = error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
    script: list[Step] = [long, long, long, too_long, turn("They", pause(60.0)), "Next."]
    async with MockMessagesApi(script) as api, opened(api, project) as session:
        for prompt in ("one", "two", "three"):
            await run(session, prompt)
        async with following(session, "four") as events:
            await api.arrival(5).until_set()
            started = time.perf_counter()
            session.interrupt()
            await until(lambda: of_type(events, RunResult))
        took = time.perf_counter() - started
        assert result_of(await run(session, "five")).text == "Next."

    assert result_of(events).terminal_reason == "aborted_streaming"
    assert took < LIMIT


@pytest.mark.requirement("abort.to_idle")
@pytest.mark.parametrize("event", ["PreCompact", "PostCompact", "SessionStart"])
async def test_a_hook_of_a_compaction_is_called_off_too(event: str, project: Path) -> None:
    long = "Something was said. " * 2_000
    too_long = error(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
    script: list[Step] = [long, long, long, too_long, *["<summary>They talked.</summary>"] * 3]
    matcher = "compact" if event == "SessionStart" else ""
    hook = {"type": "command", "command": "touch hooked; sleep 600"}
    settings = json.dumps({"hooks": {event: [{"matcher": matcher, "hooks": [hook]}]}})
    async with MockMessagesApi(script) as api, opened(api, project, settings=settings) as session:
        for prompt in ("one", "two", "three"):
            await run(session, prompt)
        async with following(session, "four") as events:
            await until((project / "hooked").exists)
            started = time.perf_counter()
            session.interrupt()
            await until(lambda: of_type(events, RunResult))
        took = time.perf_counter() - started
        assert session.transcript_path is not None
        assert read(session.transcript_path).messages == tuple(session.messages)

    assert result_of(events).terminal_reason == "aborted_streaming"
    assert took < LIMIT
