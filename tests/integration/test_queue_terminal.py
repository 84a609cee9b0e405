"""Prompts that wait, and a session that wakes, in a real terminal with the real session."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mock_messages_api import MockMessagesApi, Request, Step, tool_use, turn
from tmux_pane import HAS_TMUX, PATIENCE, Pane, pane

pytestmark = pytest.mark.skipif(not HAS_TMUX, reason="tmux is not installed: no terminal to look at")
IDLE = r"(?m)^›$"


class Sitting:
    """A person at a terminal."""

    def __init__(self, folder: Path) -> None:
        self.project, self._home = folder / "project", folder / "home"
        self.project.mkdir()

    @contextmanager
    def at(
        self, script: list[Step], *args: str, term: str = "xterm-256color"
    ) -> Iterator[tuple[Pane, MockMessagesApi]]:
        with MockMessagesApi(script).run_in_thread() as api:
            env = {
                "PATH": os.environ["PATH"],
                "HOME": str(self._home),
                "TERM": term,
                "LANG": "C.UTF-8",
                "ANTHROPIC_BASE_URL": api.url,
                "ANTHROPIC_API_KEY": "test",
            }
            toolpost = str(Path(sys.executable).with_name("toolpost"))
            command = [toolpost, *(args or ["--dangerously-skip-permissions"])]
            with pane(command, cwd=self.project, env=env) as terminal:
                terminal.shows(IDLE)
                yield terminal, api

    def sees(self, file: str) -> None:
        """Wait for a file of the project."""
        ends = time.monotonic() + PATIENCE
        while not (self.project / file).exists():
            assert time.monotonic() < ends, f"{file} never came"
            time.sleep(0.02)


@pytest.fixture
def sitting(tmp_path: Path) -> Sitting:
    return Sitting(tmp_path.resolve())


def waits_for(file: str, **more: Any) -> Any:
    return tool_use("Bash", {"command": f"while [ ! -e {file} ]; do sleep 0.02; done; echo over", **more}, id="t1")


def texts(request: Request) -> list[str]:
    """The texts of the last message, beside results of calls."""
    return [block["text"] for block in request.body["messages"][-1]["content"] if block["type"] == "text"]


def test_what_is_sent_while_a_call_runs_waits_and_is_read_with_its_result(sitting: Sitting) -> None:
    with sitting.at([turn(waits_for("go")), "Both done."]) as (terminal, api):
        terminal.send("begin")
        terminal.shows(r"while \[ ! -e go")
        terminal.send("and that too")
        terminal.shows(r"next: and that too  \(↑ to change it\)")
        (sitting.project / "go").touch()
        screen = terminal.shows(r"(?sm)› and that too.*Both done\..*^›$")

    assert "next:" not in screen
    assert texts(api.requests[1]) == ["and that too"]


def test_what_waits_is_changed_before_it_is_read(sitting: Sitting) -> None:
    with sitting.at([turn(waits_for("go")), "Done."]) as (terminal, api):
        terminal.send("begin")
        terminal.shows(r"while \[ ! -e go")
        terminal.send("wrong")
        terminal.shows("next: wrong")
        terminal.press("Up")
        terminal.shows("› wrong")
        terminal.press("C-u")
        terminal.send("right")
        terminal.shows("next: right")
        (sitting.project / "go").touch()
        terminal.shows(r"(?sm)Done\..*^›$")

    assert texts(api.requests[1]) == ["right"]


def test_escape_ends_the_turn_and_brings_back_what_waited(sitting: Sitting) -> None:
    with sitting.at([turn(waits_for("never")), "I see."]) as (terminal, api):
        terminal.send("begin")
        terminal.shows(r"while \[ ! -e never")
        terminal.send("stop that")
        terminal.shows("next: stop that")
        terminal.press("Escape")
        terminal.shows(r"(?sm)Interrupted.*› stop that")
        assert len(api.requests) == 1
        terminal.press("Enter")
        terminal.shows(r"(?sm)I see\..*^›$")

    assert texts(api.requests[1])[-1] == "stop that"


def test_the_end_of_background_work_begins_a_turn_and_says_why(sitting: Sitting) -> None:
    behind = waits_for("go", run_in_background=True, description="the tests")
    with sitting.at([turn(behind), "Started.", "They passed."]) as (terminal, api):
        terminal.send("begin")
        terminal.shows(r"(?sm)Started\..*^›$")
        terminal.type("half a thought")
        terminal.shows("› half a thought")
        (sitting.project / "go").touch()
        screen = terminal.shows(r"(?sm)They passed\..*› half a thought")

    assert "completed (exit code 0)" in screen
    assert "<task-notification>" in texts(api.requests[2])[0]


def test_the_status_says_what_is_left_of_the_budget(sitting: Sitting) -> None:
    with sitting.at(["Hello."], "--max-budget-usd", "5") as (terminal, _):
        terminal.shows(r"\$5\.00 left")
        terminal.send("hi")
        terminal.shows(r"(?s)Hello\..*\$0\.\d+, \$4\.9\d left")


# A terminal that can't redraw.


def runs_until(file: str) -> Any:
    """Return a call that says that it runs: a plain terminal shows a call at its end."""
    return tool_use("Bash", {"command": f"touch runs; while [ ! -e {file} ]; do sleep 0.02; done; echo over"}, id="t1")


def test_a_plain_terminal_takes_lines_while_a_call_runs_too(sitting: Sitting) -> None:
    with sitting.at([turn(runs_until("go")), "Both done.", "New."], term="dumb") as (terminal, api):
        terminal.send("begin")
        sitting.sees("runs")
        terminal.send("and that too")
        terminal.shows(r"next: and that too")
        terminal.send("/clear")
        terminal.shows(r"next: /clear")
        terminal.send("afterwards")
        terminal.shows(r"next: afterwards")
        (sitting.project / "go").touch()
        screen = terminal.shows(r"(?sm)› and that too.*Both done\..*› /clear.*› afterwards.*New\..*^›$")

    assert screen.count("next:") == 3
    assert texts(api.requests[1]) == ["and that too"]
    assert len(api.requests[2].body["messages"]) == 1


def test_what_was_typed_before_a_question_at_a_plain_terminal_does_not_answer_it(sitting: Sitting) -> None:
    asks = tool_use("Bash", {"command": "rm -r build"}, id="t2")
    script: list[Step] = [turn(runs_until("go"), asks), "It stays."]
    allowed = ("--allowed-tools", "Bash(touch *),Bash(while *),Bash(sleep *),Bash(echo *)")
    with sitting.at(script, *allowed, term="dumb") as (terminal, api):
        terminal.send("begin")
        sitting.sees("runs")
        (sitting.project / "build").mkdir()
        terminal.send("y")
        terminal.shows(r"next: y")
        (sitting.project / "go").touch()
        terminal.shows(r"Number, or what to do instead:$")
        terminal.send("leave it")
        terminal.shows(r"It stays\.")

    assert (sitting.project / "build").is_dir()
    assert "y" in texts(api.requests[1])


def test_ctrl_c_at_a_plain_terminal_gives_back_what_waited(sitting: Sitting) -> None:
    with sitting.at([turn(runs_until("go")), "New."], term="dumb") as (terminal, api):
        terminal.send("begin")
        sitting.sees("runs")
        terminal.send("never mind")
        terminal.shows(r"next: never mind")
        terminal.press("C-c")
        terminal.shows(r"(?sm)not sent: never mind.*^›$")
        terminal.send("new")
        terminal.shows(r"New\.")

    assert "never mind" not in str(api.requests[1].body["messages"])
