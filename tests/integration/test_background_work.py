"""Commands in the background, from the call to the notice that the model reads: `toolpost -p` with a scripted model."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest
from mock_messages_api import Gate, MockMessagesApi, Request, Step, Turn, pause, tool_use, turn

TOOLPOST = str(Path(sys.executable).with_name("toolpost"))
LIMIT = 60.0
TREE = "sleep 1000 & setsid sleep 1000 & (setsid sleep 1000 &); nohup sleep 1000 >/dev/null 2>&1 & "


class Place:
    """A project, a home, and how to run the program there."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "a project"
        self.state = folder / "state"
        self.project.mkdir()
        self.state.mkdir()

    def configure(self, settings: Mapping[str, Any]) -> None:
        (self.state / "settings.json").write_text(json.dumps(settings))

    def start(self, api: MockMessagesApi, *args: str, **options: Any) -> subprocess.Popen[str]:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.state),
            "TOOLPOST_CONFIG_DIR": str(self.state),
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_API_KEY": "test",
        }
        command = [TOOLPOST, "-p", *args, "--dangerously-skip-permissions"]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.Popen(command, cwd=self.project, env=env, text=True, **streams)

    def run(self, api: MockMessagesApi, *args: str) -> tuple[str, float]:
        """Return what was printed, and how long it took."""
        began = time.monotonic()
        process = self.start(api, *args)
        out, err = process.communicate(timeout=LIMIT)
        assert process.returncode == 0, err
        return out, time.monotonic() - began

    def processes(self) -> list[psutil.Process]:
        """What runs in the project's folder."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.cwd() == str(self.project) and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except (psutil.Error, OSError):  # it ended, or is in a folder that lies deeper than any path
                continue
        return found

    def all_end(self, but: int = 0) -> bool:
        """Whether within some seconds nothing runs there any more, beside the program of that id and what watches it."""
        for _ in range(500):
            if all(process.pid == but for process in self.processes()):
                return True
            time.sleep(0.02)
        return False


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


def bash(command: str, name: str = "t1", **more: Any) -> Any:
    return tool_use("Bash", {"command": command, **more}, id=name)


def told(request: Request) -> str:
    """What the last message says beside the results of calls."""
    content = request.body["messages"][-1]["content"]
    return "\n".join(block["text"] for block in content if block["type"] == "text")


def result(request: Request) -> str:
    return str(request.tool_results[-1]["content"])


def with_id(make: Callable[[str], Any]) -> Callable[[Request], Turn]:
    """Answer with a call that needs the id of the task that a result told."""

    def answer(request: Request) -> Turn:
        found = re.search(r"with id (\w+)", str(request.body["messages"]))
        assert found is not None
        return turn(make(found.group(1)))

    return answer


def test_the_model_is_told_of_an_end_with_the_results_of_its_next_call(place: Place) -> None:
    script: list[Step] = [
        turn(bash("until [ -e go ]; do sleep 0.02; done; echo built; exit 4", run_in_background=True)),
        turn(bash("touch go; sleep 1.5", "t2")),
        "Done.",
    ]
    with MockMessagesApi(script).run_in_thread() as api:
        out, _ = place.run(api, "go", "--output-format", "stream-json", "--verbose")
    lines = [json.loads(line) for line in out.splitlines()]

    assert "Its output goes to /" in result(api.requests[1])
    notice = told(api.requests[2])
    assert notice.startswith("<task-notification>\n<task-id>")
    assert "<tool-use-id>t1</tool-use-id>" in notice
    assert "<status>failed</status>" in notice
    assert "(exit code 4)" in notice
    output = re.search(r"<output-file>(.*)</output-file>", notice)
    assert output is not None
    assert Path(output.group(1)).read_text() == "built\n\n[exit code 4]\n"
    (shown,) = [line for line in lines if line.get("subtype") == "task_notification"]
    assert (shown["status"], shown["output_file"], shown["tool_use_id"]) == ("failed", output.group(1), "t1")


def test_a_session_that_waits_for_lines_is_woken_by_an_end(place: Place) -> None:
    answers: list[Step] = [
        turn(bash("while [ ! -e go ]; do sleep 0.02; done", run_in_background=True)),
        "Started.",
        "I see.",
    ]
    streams = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
    with MockMessagesApi(answers).run_in_thread() as api:
        process = place.start(api, *streams, stdin=subprocess.PIPE)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"type": "user", "message": {"role": "user", "content": "go"}}) + "\n")
        process.stdin.flush()
        turns: list[list[dict[str, Any]]] = []
        for _ in range(2):
            turns.append([json.loads(process.stdout.readline())])
            while turns[-1][-1]["type"] != "result":
                turns[-1].append(json.loads(process.stdout.readline()))
            (place.project / "go").touch()
        process.communicate(timeout=LIMIT)

    assert process.returncode == 0
    woken = turns[1]
    assert [line.get("subtype", line["type"]) for line in woken] == [
        "init",
        "task_notification",
        "user",
        "assistant",
        "success",
    ]
    assert woken[2]["isSynthetic"]
    assert "<status>completed</status>" in told(api.requests[2])
    assert woken[-1]["result"] == "I see."


def test_waiting_for_a_task_returns_its_output_and_spares_the_notice(place: Place) -> None:
    script: list[Step] = [
        turn(bash("sleep 0.3; echo finished", run_in_background=True)),
        with_id(lambda name: tool_use("TaskOutput", {"task_id": name, "timeout": 60_000}, id="t2")),
        "Done.",
    ]
    with MockMessagesApi(script).run_in_thread() as api:
        place.run(api, "go")

    assert re.fullmatch(r"Task \w+: completed \(exit code 0\)\nfinished\n\n\[exit code 0\]", result(api.requests[2]))
    assert told(api.requests[2]) == ""


@pytest.mark.parametrize(("tool", "parameter"), [("TaskStop", "task_id"), ("KillShell", "shell_id")])
def test_stopping_a_task_ends_all_that_it_started(place: Place, tool: str, parameter: str) -> None:
    script: list[Step] = [
        turn(bash(f"{TREE} touch ready; wait", run_in_background=True)),
        turn(bash("while [ ! -e ready ]; do sleep 0.02; done", "t2")),
        with_id(lambda name: tool_use(tool, {parameter: name}, id="t3")),
        turn(bash("true", "t4")),
        "Done.",
    ]
    with MockMessagesApi(script).run_in_thread() as api:
        process = place.start(api, "go")
        api.arrival(4).wait()
        assert place.all_end(but=process.pid)
        process.communicate(timeout=LIMIT)

    assert result(api.requests[3]).startswith("Stopped the task")
    assert told(api.requests[3]) == ""


def test_a_command_that_takes_long_moves_and_its_end_is_waited_for(place: Place) -> None:
    place.configure({"plugins": {"bash": {"config": {"background_after": 0.3}}}})
    script: list[Step] = [
        turn(bash("for i in 1 2 3; do sleep 0.5; done; touch made")),
        "It still runs.",
        "Now it is done.",
    ]
    with MockMessagesApi(script).run_in_thread() as api:
        out, _ = place.run(api, "go")

    assert "goes on in the background with id" in result(api.requests[1])
    assert "<status>completed</status>" in told(api.requests[2])
    assert out == "Now it is done.\n"
    assert (place.project / "made").exists()


def test_a_run_does_not_wait_for_what_the_model_put_into_the_background(place: Place) -> None:
    script: list[Step] = [turn(bash(f"{TREE} touch ready; wait", run_in_background=True)), "Serving."]
    with MockMessagesApi(script).run_in_thread() as api:
        out, seconds = place.run(api, "go")

    assert out == "Serving.\n"
    assert seconds < 30
    assert place.all_end()


@pytest.mark.requirement("processes.group_is_ended")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_abort_of_a_sleep_leaves_no_process(place: Place, how: signal.Signals) -> None:
    with MockMessagesApi([turn(bash(f"{TREE} touch ready; sleep 1000")), "Never."]).run_in_thread() as api:
        process = place.start(api, "go")
        wait_for(place.project / "ready")
        assert len(place.processes()) >= 6
        process.send_signal(how)
        process.communicate(timeout=LIMIT)

    assert place.all_end()


@pytest.mark.requirement("processes.reaped_after_sigkill")
def test_a_kill_of_ourselves_ends_what_runs_in_the_background(place: Place) -> None:
    gate = Gate()
    script: list[Step] = [turn(bash(f"{TREE} touch ready; wait", run_in_background=True)), turn(pause(gate), "Never.")]
    with MockMessagesApi(script).run_in_thread() as api:
        process = place.start(api, "go")
        wait_for(place.project / "ready")
        process.kill()
        process.communicate(timeout=LIMIT)
        gate.open()

    assert place.all_end()


def wait_for(path: Path) -> None:
    """Block until a file is there; the limit of the test bounds it."""
    while not path.exists():
        time.sleep(0.01)
