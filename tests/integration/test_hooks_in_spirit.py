"""Hooks as teams have them, in a repository's settings.json and scripts; and hooks that go wrong in every way."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mock_messages_api import MockMessagesApi, Step, tool_use, turn

TOOLPOST = str(Path(sys.executable).with_name("toolpost"))
EXAMPLES = Path(__file__).parents[1] / "support" / "example_hooks"
# A program's peak counts what it was forked from, and a test run is big: the start is made from something small.
LAUNCHER = """
import os, sys
_, status, used = os.wait4(os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ), 0)
open(sys.argv[1], "w").write(f"{os.waitstatus_to_exitcode(status)} {used.ru_maxrss}")
"""


class Ended(NamedTuple):
    """A run: what it printed, what the model read last, how long it took, and its peak of memory."""

    code: int
    out: str
    err: str
    read: str
    seconds: float
    megabytes: float


class Repository:
    """A project with hooks in `.toolpost/settings.json`, whose scripts are in `.toolpost/hooks`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.scripts = self.project / ".toolpost" / "hooks"
        shutil.copytree(EXAMPLES, self.scripts)
        self.hooks: dict[str, list[dict[str, Any]]] = {}

    def hook(self, event: str, script: str, matcher: str = "", **entry: Any) -> None:
        handler = {"type": "command", "command": f'"$CLAUDE_PROJECT_DIR"/.toolpost/hooks/{script}', **entry}
        self.hooks.setdefault(event, []).append({"matcher": matcher, "hooks": [handler]})

    def script(self, name: str, text: str) -> None:
        file = self.scripts / name
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)

    def run(self, *script: Step) -> Ended:
        settings = self.project / ".toolpost" / "settings.json"
        settings.write_text(json.dumps({"hooks": self.hooks}))
        with MockMessagesApi(script).run_in_thread() as api:
            env = {
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "HOME": str(self.folder / "home"),
                "ANTHROPIC_BASE_URL": api.url,
                "ANTHROPIC_API_KEY": "test",
            }
            argv = [TOOLPOST, "-p", "go", "--trust", "--dangerously-skip-permissions"]
            out, err, began = self.folder / "out", self.folder / "err", time.monotonic()
            launched = [sys.executable, "-S", "-c", LAUNCHER, str(self.folder / "used"), *argv]
            with out.open("wb") as to_out, err.open("wb") as to_err:
                subprocess.run(
                    launched,
                    cwd=self.project,
                    env=env,
                    stdin=subprocess.DEVNULL,
                    stdout=to_out,
                    stderr=to_err,
                    check=True,
                )
            code, used = map(int, (self.folder / "used").read_text().split())
            body: dict[str, Any] = api.requests[-1].body if api.requests else {}
            read = json.dumps(body.get("messages", ()))
        took = time.monotonic() - began
        peak = used / (1024 if sys.platform != "darwin" else 1024 * 1024)
        return Ended(code, out.read_text(), err.read_text(), read, took, peak)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path.resolve())


def bash(command: str) -> Any:
    return turn(tool_use("Bash", {"command": command}, id="t1"))


def test_deleting_whole_trees_is_blocked_and_other_commands_are_not(repository: Repository) -> None:
    repository.hook("PreToolUse", "block_rm.py", "Bash")
    (repository.project / "keep").mkdir()
    blocked = repository.run(bash("cd . && rm -rf keep"), "Well.")
    assert (repository.project / "keep").exists()
    assert "deletes a whole tree; name the files instead" in blocked.read
    repository.run(bash("rmdir keep"), "Done.")
    assert not (repository.project / "keep").exists()


def test_files_are_formatted_after_an_edit(repository: Repository) -> None:
    repository.hook("PostToolUse", "format_after_edit.sh", "Write|Edit")
    call = tool_use("Write", {"file_path": str(repository.project / "a.txt"), "content": "one  \ntwo\t\n"}, id="t1")
    ended = repository.run(turn(call), "Done.")
    assert ended.out == "Done.\n"
    assert (repository.project / "a.txt").read_text() == "one\ntwo\n"


@pytest.mark.parametrize(("name", "written"), [(".env", False), (".env.local", False), ("env.txt", True)])
def test_secrets_are_protected(name: str, *, written: bool, repository: Repository) -> None:
    repository.hook("PreToolUse", "protect_env.py", "Write|Edit|Read")
    call = tool_use("Write", {"file_path": str(repository.project / name), "content": "KEY=1"}, id="t1")
    ended = repository.run(turn(call), "Done.")
    assert (repository.project / name).exists() is written
    assert ("holds secrets" in ended.read) is not written


def test_the_model_begins_with_the_state_of_the_repository(repository: Repository) -> None:
    subprocess.run(["git", "init", "-q", "-b", "trunk", str(repository.project)], check=True)
    repository.hook("SessionStart", "git_context.sh", "startup|resume")
    ended = repository.run("Done.")
    assert "Branch: trunk" in ended.read
    assert "Changed: 1 files" in ended.read


def test_the_end_of_the_work_is_announced_and_read_out(repository: Repository) -> None:
    repository.hook("Stop", "notify.sh")
    repository.hook("Stop", "speak.sh")
    repository.run("All tests pass.")
    assert (repository.folder / "notices.txt").read_text() == "Your agent is done\n"
    assert (repository.folder / "spoken.txt").read_text() == "All tests pass.\n"


def test_everything_is_logged_in_its_order(repository: Repository) -> None:
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"):
        repository.hook(event, "log_jsonl.py", "*")
    repository.run(bash("true"), "Done.")
    events = [json.loads(line) for line in (repository.folder / "events.jsonl").read_text().splitlines()]
    assert [event["hook_event_name"] for event in events] == [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Stop",
        "SessionEnd",
    ]
    assert [event["tool_name"] for event in events] == [None, None, "Bash", "Bash", None, None]
    assert len({event["session_id"] for event in events}) == 1


BAD = {
    "hangs": ("sleep 300", "timed out"),
    "crashes": ("kill -SEGV $$", "Segmentation fault"),
    "floods": ("head -c 100000000 /dev/zero | tr '\\0' x; head -c 100000000 /dev/zero | tr '\\0' y >&2", ""),
    "prints invalid JSON": ('printf \'{"decision": "block", \'', "begins like JSON and is none"),
    "says what fits no event": ('printf \'{"decision": "maybe"}\'', "decision is 'maybe'"),
    "deletes its own script": ('rm -- "$0"', ""),
    "closes its input": ("exec 0<&-; sleep 0.1", ""),
}


@pytest.mark.parametrize(("text", "told"), BAD.values(), ids=BAD)
def test_a_hook_that_goes_wrong_harms_nothing(text: str, told: str, repository: Repository) -> None:
    events = ("PreToolUse", "PostToolUse", "Stop")
    for event in events:
        repository.script(f"bad_{event}.sh", text)
        repository.hook(event, f"bad_{event}.sh", timeout=10 if "head" in text else 1)
    ended = repository.run(bash("echo ran > made"), "Done.")
    assert (ended.code, ended.out) == (0, "Done.\n"), ended.err
    assert (repository.project / "made").read_text() == "ran\n"
    assert [told in line for line in ended.err.splitlines() if any(event in line for event in events)] == (
        [True] * 3 if told else []
    ), ended.err
    assert ended.megabytes < 200
    assert ended.seconds < 60


@pytest.fixture
def pid_file(repository: Repository) -> Iterator[Path]:
    file = repository.folder / "pid"
    yield file
    if file.exists() and (pid := file.read_text().strip()):
        with suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)


def test_a_hook_that_leaves_a_daemon_behind_holds_nothing_up(repository: Repository, pid_file: Path) -> None:
    repository.script("daemon.sh", f"setsid sh -c 'echo $$ > {pid_file}; exec sleep 300' & exit 0")
    repository.hook("PreToolUse", "daemon.sh", "Bash")
    ended = repository.run(bash("echo ran > made"), "Done.")
    assert (ended.code, ended.out) == (0, "Done.\n"), ended.err
    assert (repository.project / "made").exists()
    assert ended.seconds < 60


@pytest.mark.parametrize("text", ["sleep 300", "kill -SEGV $$", "printf '{\"decision\": '", 'exec "$0.gone"'])
def test_a_gate_that_says_so_blocks_where_it_fails(text: str, repository: Repository) -> None:
    repository.script("gate.sh", text)
    repository.hook("PreToolUse", "gate.sh", "Bash", timeout=1, onFailure="block")
    ended = repository.run(bash("echo ran > made"), "Done.")
    assert not (repository.project / "made").exists()
    assert "PreToolUse hook" in ended.read
    assert ("timed out" if "sleep" in text else "failed") in ended.read
    assert "user" not in json.loads(ended.read)[-1]["content"][0]["content"].lower()


def test_a_gate_with_a_typo_in_its_path_is_told_of_at_the_start_and_at_each_call(repository: Repository) -> None:
    repository.hook("PreToolUse", "blok_rm.py", "Bash")
    ended = repository.run(bash("true"), bash("true"), "Done.")
    assert "did you mean 'block_rm.py'?" in ended.err
    assert ended.err.count("could not start (there is no such program)") == 2
