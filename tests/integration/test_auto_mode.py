"""The permission mode `auto` in a session: a small model judges what nobody else decides."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from mock_messages_api import MockMessagesApi, Request, Turn, tool_use, turn

from toolpost import LaunchOptions, Question, Reply, SessionEvent, ToolFinished
from toolpost_core.api import open_session

Step = Callable[[Request], "str | Turn"]


class Run:
    """What a session in auto mode came to; `judged` are the inputs that the small model was asked about."""

    def __init__(self) -> None:
        self.questions: list[Question] = []
        self.events: list[SessionEvent] = []
        self.judged: list[str] = []

    @property
    def results(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, ToolFinished)]


async def run(folder: Path, *commands: str, verdicts: dict[str, str], interactive: bool = True) -> Run:
    """Let a model make Bash calls one after the other in auto mode; every judgement not in `verdicts` is "allow"."""
    done, script = Run(), [*(turn(tool_use("Bash", {"command": command})) for command in commands), turn("Done.")]

    def answer(request: Request) -> str | Turn:
        if "haiku" not in request.body["model"]:
            return script.pop(0)
        command = json.loads(request.body["messages"][0]["content"])["call_to_judge"]["input"]
        done.judged.append(command)
        return json.dumps({"verdict": verdicts.get(command, "allow"), "reason": f"of {command}"})

    async def ask(question: Question) -> Reply:
        done.questions.append(question)
        return Reply(allow=False, feedback="not now")

    async with MockMessagesApi([answer] * (3 * len(commands) + 1)) as api:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_API_KEY": "test",
        }
        options = LaunchOptions(cwd=folder, permission_mode="auto")
        async with open_session(options, ask if interactive else None, env=env) as session:
            done.events = [event async for event in session.submit("make it so")]
    return done


async def test_what_the_small_model_allows_runs_and_what_it_refuses_does_not(tmp_path: Path) -> None:
    done = await run(tmp_path, "touch a", "touch b", verdicts={"touch b": "soft_deny"})

    assert (tmp_path / "a").exists()
    assert not (tmp_path / "b").exists()
    assert done.judged == ["touch a", "touch b"]
    assert done.results[1] == "Permission denied: auto mode: of touch b"


async def test_a_call_that_rules_decide_is_not_judged(tmp_path: Path) -> None:
    (tmp_path / ".toolpost").mkdir()
    rules = {"permissions": {"deny": ["Bash(touch:*)"]}}
    (tmp_path / ".toolpost" / "settings.json").write_text(json.dumps(rules))
    done = await run(tmp_path, "ls", "touch a", verdicts={})

    assert done.judged == []
    assert not (tmp_path / "a").exists()


async def test_after_three_refusals_in_a_row_the_user_is_asked_and_the_model_told(tmp_path: Path) -> None:
    commands = [f"touch {name}" for name in "abcd"]
    done = await run(tmp_path, *commands, verdicts=dict.fromkeys(commands, "soft_deny"))

    assert [question.request.tool_input["command"] for question in done.questions] == ["touch d"]
    assert "in a row" not in done.results[1]
    assert "Bash(touch) was refused 3 times in a row" in done.results[2]


async def test_a_call_that_runs_ends_the_row(tmp_path: Path) -> None:
    commands = ["touch a", "touch b", "touch c", "touch d", "touch e"]
    refused = dict.fromkeys(["touch a", "touch b", "touch d", "touch e"], "soft_deny")
    done = await run(tmp_path, *commands, verdicts=refused)

    assert done.questions == []
    assert (tmp_path / "c").exists()


@pytest.mark.parametrize("interactive", [True, False])
async def test_an_answer_that_is_no_verdict_is_a_question_or_a_refusal(interactive: bool, tmp_path: Path) -> None:
    done = await run(tmp_path, "touch a", verdicts={"touch a": "perhaps"}, interactive=interactive)

    assert len(done.questions) == int(interactive)
    assert not (tmp_path / "a").exists()
