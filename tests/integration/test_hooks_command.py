"""`toolpost hooks test`, `--debug hooks` and the flags that run Setup hooks, as a person uses them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from forked import run_program
from mock_messages_api import MockMessagesApi, tool_use, turn

BASH = {"tool_name": "Bash", "tool_input": {"command": "rm -r ."}}


class Place:
    """A project with hooks, and the program run there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        (self.project / ".toolpost").mkdir(parents=True)
        self.url = ""

    def configure(self, **hooks: list[dict[str, Any]]) -> None:
        (self.project / ".toolpost" / "settings.json").write_text(json.dumps({"hooks": hooks}))

    def run(self, *arguments: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder / "home")}
        if self.url:
            env |= {"ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": "test"}
        return run_program(arguments, cwd=self.project, env=env, input=given or "")

    def fire(self, event: str, value: dict[str, Any], *more: str) -> subprocess.CompletedProcess[str]:
        return self.run("hooks", "test", event, "--trust", "--input", json.dumps(value), *more)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


def group(command: str, matcher: str = "", **entry: Any) -> dict[str, Any]:
    return {"matcher": matcher, "hooks": [{"type": "command", "command": command, **entry}]}


def test_an_event_shows_which_hooks_it_is_for_and_what_they_decide(place: Place) -> None:
    place.configure(
        PreToolUse=[
            group("cat > given.json; echo 'not the whole folder' >&2; exit 2", "Bash"),
            group("true", "Edit"),
            group("true", **{"if": "Bash(git *)"}),
        ]
    )
    done = place.fire("PreToolUse", BASH)
    assert done.returncode == 0, done.stderr
    for said in (
        "PreToolUse for 'Bash': 1 of 3 hooks ran",
        "hooks.PreToolUse[0].hooks[0]): blocked, exit code 2",
        "not run: its matcher 'Edit' does not take 'Bash'",
        "not run: its if 'Bash(git *)' does not cover the call",
        "decision='deny', reason='not the whole folder'",
    ):
        assert said in done.stdout
    given = json.loads((place.project / "given.json").read_text())
    assert {name: given[name] for name in BASH} == BASH


def test_the_same_as_json_with_times_and_output(place: Place) -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "mind the tests"}}
    place.configure(PostToolUse=[group(f"printf '%s' '{json.dumps(answer)}'; echo chatter >&2")])
    done = place.fire("PostToolUse", {**BASH, "tool_response": "ok", "duration_ms": 12}, "--json")
    found = json.loads(done.stdout)
    (hook,) = found["hooks"]
    assert (hook["status"], hook["exit_code"], hook["errors"], hook["output"]) == ("ok", 0, "chatter", answer)
    assert hook["duration_ms"] > 0
    assert hook["decision"] == found["outcome"] == {"additional_context": "mind the tests"}
    assert found["failure"] is None


@pytest.mark.parametrize(("entry", "status"), [({}, "failed"), ({"timeout": 0.2}, "timed_out")])
def test_a_hook_that_fails_is_a_failure_of_the_command(entry: dict[str, Any], status: str, place: Place) -> None:
    place.configure(Stop=[group("sleep 60" if entry else "echo broken >&2; exit 1", **entry)])
    done = place.fire("Stop", {})
    assert done.returncode == 1
    assert status in done.stdout


def test_the_event_may_come_on_standard_input_as_hooks_get_it(place: Place) -> None:
    place.configure(FileChanged=[group("cat >&2", ".env")])
    event = {"hook_event_name": "FileChanged", "session_id": "s1", "file_path": "/a/.env", "event": "unlink"}
    done = place.run("hooks", "test", "FileChanged", "--trust", "--input", "-", given=json.dumps(event))
    assert "1 of 1 hooks ran" in done.stdout
    assert '"file_path": "/a/.env"' in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("PreToolUze",), "Did you mean PreToolUse?"),
        (("PreToolUse",), "PreToolUse needs tool_name"),
        (("Stop", "--input", '{"reasn": 1}'), "Stop has no reasn"),
        (("Stop", "--input", "{"), "--input is not JSON"),
        (("Stop", "--input", "[]"), "must be a JSON object"),
        (("BeforeModel",), "can't be tried"),
    ],
)
def test_what_is_no_event_is_told_with_what_would_be(arguments: tuple[str, ...], says: str, place: Place) -> None:
    done = place.run("hooks", "test", *arguments)
    assert done.returncode == 2
    assert says in done.stderr


def test_an_untrusted_folder_runs_none_of_its_hooks(place: Place) -> None:
    place.configure(Stop=[group("touch ran")])
    done = place.run("hooks", "test", "Stop")
    assert "No hook of the settings is set up for Stop." in done.stdout
    assert not (place.project / "ran").exists()


def printed(place: Place, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a prompt whose model makes one call."""
    call = turn(tool_use("Bash", {"command": "true"}, id="t1"))
    with MockMessagesApi([call, "Done."]).run_in_thread() as api:
        place.url = api.url
        return place.run("-p", "go", "--trust", "--dangerously-skip-permissions", *arguments)


def test_debug_tells_of_each_firing_on_standard_error(place: Place) -> None:
    place.configure(PreToolUse=[group("echo fine >&2", "Bash"), group("true", "Edit")], Stop=[group("true")])
    done = printed(place, "--debug=hooks")
    assert done.stdout == "Done.\n"
    lines = done.stderr.splitlines()
    assert any(line.startswith("debug: PreToolUse for 'Bash': 1 of 2 hooks ran") for line in lines)
    assert any("exit code 0" in line for line in lines)
    assert any(line.strip() == "debug:     errors: fine" for line in lines)
    assert any("its matcher 'Edit' does not take 'Bash'" in line for line in lines)
    assert any(line.startswith("debug: Stop: 1 of 1 hooks ran") for line in lines)
    assert printed(place).stderr == ""


def test_a_hook_that_fails_at_the_very_end_is_told_of_too(place: Place) -> None:
    place.configure(SessionEnd=[group("echo 'disk full' >&2; exit 1"), group("sleep 60", timeout=0.3)])
    done = printed(place)
    assert (done.returncode, done.stdout) == (0, "Done.\n")
    assert "toolpost: warning: SessionEnd hook failed" in done.stderr
    assert "disk full" in done.stderr
    assert "SessionEnd hook timed out (sleep 60)" in done.stderr


def test_a_matcher_that_misspells_a_tool_is_told_of_once(place: Place) -> None:
    place.configure(
        PreToolUse=[group("true", "bash"), group("true", "Bash|Nothing")], PostToolUse=[group("true", "Agent")]
    )
    done = printed(place)
    assert done.stderr.count("hooks.PreToolUse[0].matcher 'bash'") == 1
    assert "Did you mean 'Bash'?" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_so_is_a_condition_that_does(place: Place) -> None:
    conditions = ("bash(git *)", "Bash(git *)", "Nothing", "mcp__memory__.*")
    place.configure(PreToolUse=[group("true", **{"if": condition}) for condition in conditions])
    done = printed(place)
    assert "hooks.PreToolUse[0].hooks[0].if 'bash(git *)'" in done.stderr
    assert "Did you mean 'Bash'?" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(("flag", "trigger"), [("--init", "init"), ("--maintenance", "maintenance")])
def test_setup_hooks_run_where_they_are_asked_for(flag: str, trigger: str, place: Place) -> None:
    place.configure(Setup=[group('touch set-up-$(cat | sed -n \'s/.*"trigger": "\\([a-z]*\\)".*/\\1/p\')')])
    printed(place)
    assert [file.name for file in place.project.glob("set-up-*")] == []
    assert printed(place, flag).stdout == "Done.\n"
    assert [file.name for file in place.project.glob("set-up-*")] == [f"set-up-{trigger}"]


def test_they_run_without_a_prompt_and_a_model_too(place: Place) -> None:
    place.configure(Setup=[group("touch set-up", "init")], SessionStart=[group("touch started")])
    done = place.run("--init-only", "--trust")
    assert (done.returncode, done.stdout) == (0, "")
    assert (place.project / "set-up").exists()
    assert (place.project / "started").exists()


@pytest.mark.parametrize("arguments", [("--init", "--maintenance", "-p", "go"), ("--init-only", "go")])
def test_flags_that_contradict_each_other_are_a_mistake(arguments: tuple[str, ...], place: Place) -> None:
    assert place.run(*arguments).returncode == 2


def test_the_list_says_why_a_hook_is_not_in_it(place: Place) -> None:
    place.configure(Stop=[group("true")])
    untrusted = place.run("hooks", "list")
    assert "No hook is set up." in untrusted.stdout
    assert "hooks left out: this workspace is not trusted" in untrusted.stderr

    settings = place.project / ".toolpost" / "settings.json"
    settings.write_text(json.dumps({"disableAllHooks": True, "hooks": {"Stop": [group("true")]}}))
    off = place.run("hooks", "list", "--trust")
    assert "No hook is set up." in off.stdout
    assert f"disableAllHooks in {settings} switches off the hooks" in off.stderr


def test_a_group_without_hooks_is_told_of(place: Place) -> None:
    place.configure(PreToolUse=[{"matcher": "Bash", "type": "command", "command": "exit 2"}])
    done = place.run("hooks", "list", "--trust")
    assert 'hooks.PreToolUse[0]: this must be an object with "hooks" (a list)' in done.stderr


def test_hooks_get_the_effort_that_was_chosen_as_json_and_as_a_variable(place: Place) -> None:
    place.configure(Stop=[group('cat > given.json; printf %s "$CLAUDE_EFFORT" > effort')])
    with MockMessagesApi(["Done."]).run_in_thread() as api:
        place.url = api.url
        place.run("-p", "go", "--trust", "--effort", "high")
    assert json.loads((place.project / "given.json").read_text())["effort"] == {"level": "high"}
    assert (place.project / "effort").read_text() == "high"
