"""Calls that a hook puts off: the run ends, and the next one that takes the session up asks the hook again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from forked import run_program
from mock_messages_api import MockMessagesApi, Step, text, tool_use, turn
from tmux_pane import HAS_TMUX, pane

TOOLPOST = str(Path(sys.executable).with_name("toolpost"))
DEFERS = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "defer"}}
ALLOWS = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "updatedInput": {"command": "echo the answer is 42"},
    }
}
ASKS = turn(text("I ask."), tool_use("Bash", {"command": "ask"}, id="t1"))


class Place:
    """A project whose hook says what stands in a file, and runs of the program there, all against one service."""

    def __init__(self, folder: Path, api: MockMessagesApi) -> None:
        self.folder, self.api = folder, api
        self.project = folder / "project"
        (self.project / ".toolpost").mkdir(parents=True)
        command = f"cat >> {folder}/given.jsonl; cat {folder}/answer"
        hook = {"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}
        settings = {"hooks": {"PreToolUse": [hook]}}
        (self.project / ".toolpost" / "settings.json").write_text(json.dumps(settings))
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_API_KEY": "test",
        }
        self.hook_says(DEFERS)

    def hook_says(self, answer: dict[str, Any]) -> None:
        (self.folder / "answer").write_text(json.dumps(answer))

    def given(self) -> list[dict[str, Any]]:
        """Return what the hook got so far."""
        return [json.loads(line) for line in (self.folder / "given.jsonl").read_text().splitlines()]

    def run(self, *arguments: str) -> tuple[int, dict[str, Any], str]:
        """Return the exit code, the result and what was told on standard error."""
        flags = ("-p", "--output-format", "json", "--trust")
        done = run_program([*flags, *arguments], cwd=self.project, env=self.env)
        return done.returncode, json.loads(done.stdout), done.stderr

    def begin(self) -> str:
        """Run up to the call that is put off; return the session's id."""
        _, result, _ = self.run("go")
        assert result["terminal_reason"] == "tool_deferred"
        return str(result["session_id"])

    def read(self) -> list[Any]:
        """Return the content of the last message that the model read, without what is for its cache."""
        content = self.api.requests[-1].body["messages"][-1]["content"]
        return [{key: value for key, value in block.items() if key != "cache_control"} for block in content]


@pytest.fixture
def script() -> list[Step]:
    return [ASKS, "So it is 42.", "Done."]


@pytest.fixture
def place(tmp_path: Path, script: list[Step]) -> Iterator[Place]:
    with MockMessagesApi(script).run_in_thread() as api:
        yield Place(tmp_path.resolve(), api)


def test_the_run_ends_with_the_call_that_waits(place: Place) -> None:
    code, result, told = place.run("go")
    assert (code, result["subtype"], result["is_error"], result["result"]) == (0, "success", False, "I ask.")
    assert result["stop_reason"] == result["terminal_reason"] == "tool_deferred"
    assert result["deferred_tool_use"] == {"id": "t1", "name": "Bash", "input": {"command": "ask"}}
    assert result["permission_denials"] == []
    assert f"toolpost --resume {result['session_id']} takes it up" in told
    assert len(place.api.requests) == 1


def test_whoever_takes_the_session_up_has_the_hook_asked_again_and_needs_no_prompt(place: Place) -> None:
    session = place.begin()
    place.hook_says(ALLOWS)
    code, result, _ = place.run("--resume", session)
    assert (code, result["result"], result["terminal_reason"]) == (0, "So it is 42.", "completed")
    assert "deferred_tool_use" not in result
    assert place.read() == [{"type": "tool_result", "tool_use_id": "t1", "content": "the answer is 42"}]
    first, again = place.given()
    assert (first["tool_use_id"], first["tool_input"]) == (again["tool_use_id"], again["tool_input"])


def test_it_runs_once_however_often_the_session_is_taken_up(place: Place) -> None:
    session = place.begin()
    place.hook_says(ALLOWS)
    place.run("--resume", session)
    code, result, _ = place.run("--resume", session, "and now?")
    assert (code, result["result"], len(place.given())) == (0, "Done.", 2)
    code, result, _ = place.run("--resume", session)
    assert code == 1
    assert "No call waits in this session." in result["errors"][0]


def test_a_prompt_goes_with_its_result(place: Place) -> None:
    session = place.begin()
    place.hook_says(ALLOWS)
    place.run("--resume", session, "Say it in short.")
    assert [block["type"] for block in place.read()] == ["tool_result", "text"]
    assert place.read()[1]["text"] == "Say it in short."


def test_a_hook_may_put_it_off_again_and_a_prompt_is_not_lost_unsaid(place: Place) -> None:
    session = place.begin()
    code, result, told = place.run("--resume", session, "Hurry.")
    assert (code, result["terminal_reason"], len(place.api.requests)) == (0, "tool_deferred", 1)
    assert result["deferred_tool_use"]["id"] == "t1"
    assert "The prompt was not sent: Hurry." in told
    place.hook_says(ALLOWS)
    assert place.run("--resume", session)[1]["result"] == "So it is 42."


def test_a_hook_may_refuse_it_then(place: Place) -> None:
    session = place.begin()
    place.hook_says({"decision": "block", "reason": "nobody answered"})
    place.run("--resume", session)
    (result,) = place.read()
    assert result["is_error"]
    assert "nobody answered" in result["content"]


def test_a_copy_has_the_call_too(place: Place) -> None:
    session = place.begin()
    place.hook_says(ALLOWS)
    assert place.run("--resume", session, "--fork-session")[1]["result"] == "So it is 42."
    assert place.run("--resume", session)[1]["result"] == "Done."


def test_a_tool_that_is_gone_ends_the_run_and_the_call_goes_on_waiting(place: Place) -> None:
    session = place.begin()
    place.hook_says(ALLOWS)
    code, result, _ = place.run("--resume", session, "--tools", "Read")
    assert (code, result["terminal_reason"]) == (1, "tool_deferred_unavailable")
    assert "Bash" in result["errors"][0]
    assert place.run("--resume", session)[1]["result"] == "So it is 42."


@pytest.mark.parametrize(
    "script", [[turn(tool_use("Bash", {"command": "a"}), tool_use("Bash", {"command": "b"})), "Oh."]]
)
def test_of_several_calls_none_can_wait_and_the_model_reads_what_to_do(place: Place) -> None:
    _, result, _ = place.run("go")
    assert result["terminal_reason"] == "completed"
    assert [block["is_error"] for block in place.read()] == [True, True]
    assert all("call it again by itself" in block["content"] for block in place.read())


def test_where_nothing_is_kept_nothing_can_wait(place: Place) -> None:
    _, result, _ = place.run("go", "--no-session-persistence")
    assert result["terminal_reason"] == "completed"
    assert "nobody to ask" in place.read()[0]["content"]


def test_a_program_that_talks_to_the_run_is_heard_before_the_call_runs(place: Place) -> None:
    session = place.begin()
    place.hook_says(ALLOWS)
    said = [
        {"type": "control_request", "request_id": "r1", "request": {"subtype": "initialize"}},
        {"type": "user", "message": {"role": "user", "content": "and now?"}},
    ]
    formats = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
    for lines in (said[:1], said[1:]):
        done = subprocess.run(
            [TOOLPOST, "-p", *formats, "--trust", "--resume", session],
            cwd=place.project,
            env=place.env,
            input="".join(f"{json.dumps(line)}\n" for line in lines),
            capture_output=True,
            text=True,
            check=True,
        )
        kinds = [json.loads(line)["type"] for line in done.stdout.splitlines()]
        assert kinds[-1] == "result"
        if lines == said[:1]:
            assert kinds[0] == "control_response"
            assert place.read() == [{"type": "tool_result", "tool_use_id": "t1", "content": "the answer is 42"}]
    assert len(place.given()) == 2


def test_a_deny_is_stricter_and_a_rule_of_the_settings_holds(place: Place) -> None:
    _, result, _ = place.run("go", "--disallowedTools", "Bash(ask)")
    assert result["terminal_reason"] == "completed"
    assert "Permission denied" in place.read()[0]["content"]


@pytest.mark.skipif(not HAS_TMUX, reason="tmux is not installed: no terminal to look at")
def test_in_a_terminal_it_is_put_to_the_person_at_once(place: Place) -> None:
    session = place.begin()
    env = {**place.env, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    with pane([TOOLPOST, "--resume", session, "--trust"], cwd=place.project, env=env) as terminal:
        terminal.shows(r"(?s)ask.*Yes")
        terminal.press("Enter")
        terminal.shows(r"So it is 42\.")
    assert [block["type"] for block in place.read()] == ["tool_result"]
