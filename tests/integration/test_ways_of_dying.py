"""However the program dies, nothing that it started is left two seconds later."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mock_messages_api import Gate, MockMessagesApi, Step, pause, tool_use, turn
from tmux_pane import HAS_TMUX, pane

from toolpost_sandbox_bubblewrap import Bubblewrap

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
    pytest.mark.requirement("processes.reaped_after_sigkill"),
]
TOOLPOST = str(Path(sys.executable).with_name("toolpost"))
MISSING = Bubblewrap().unusable() if sys.platform == "linux" else "bubblewrap is for Linux"
PLACES = [
    pytest.param(False, id="outside"),
    pytest.param(True, id="sandbox", marks=pytest.mark.skipif(MISSING is not None, reason=str(MISSING))),
]
# What a process group, a parent or an environment does not tell of; each says that it runs.
SHAPES = (
    "(touch a; exec {sleep}) & setsid sh -c 'touch b; exec {sleep}' & (setsid sh -c 'touch c; exec {sleep}' &); "
    "env -i setsid sh -c '/usr/bin/touch d; exec {sleep}' & "
)
LEAST = 2.0


class Place:
    """A project, what its runs need, and a number that its sleeping processes are known by."""

    def __init__(self, folder: Path, *, sandbox: bool) -> None:
        self.project, self._home = folder / "project", folder / "home"
        for made in (self.project, self._home / ".toolpost"):
            made.mkdir(parents=True)
        (self._home / ".toolpost" / "settings.json").write_text(json.dumps({"sandbox": {"enabled": sandbox}}))
        self._sleep = f"/bin/sleep 600.{os.getpid()}{time.monotonic_ns()}"

    def env(self, api: MockMessagesApi) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self._home),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_API_KEY": "test",
        }

    def script(self, gate: Gate) -> list[Step]:
        """A command in the background, then one in front that never ends."""
        behind = f"mkdir -p back; cd back; {SHAPES.format(sleep=self._sleep)} wait"
        front = f"{SHAPES.format(sleep=self._sleep)} exec {self._sleep}"
        return [
            turn(_bash(behind, "t1", run_in_background=True)),
            turn(_bash(front, "t2")),
            turn(pause(gate), "Never."),
        ]

    def until_all_run(self) -> None:
        """Wait for other processes; the limit of the test bounds it."""
        awaited = [folder / name for folder in (self.project, self.project / "back") for name in "abcd"]
        while not (all(path.exists() for path in awaited) and len(self.left()) >= 9):
            time.sleep(0.02)

    def left(self) -> list[int]:
        """The processes that sleep for this test."""
        wanted = self._sleep.replace(" ", "\0").encode()
        pids = [entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit()]
        return [int(pid) for pid in pids if wanted in _command_line(pid)]

    def assert_nothing_is_left(self) -> None:
        """Look until nothing is left; what is after two seconds is ended here and fails the test."""
        deadline = time.monotonic() + LEAST
        while (left := self.left()) and time.monotonic() < deadline:
            time.sleep(0.02)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        assert left == []


def _bash(command: str, name: str, **more: Any) -> Any:
    return tool_use("Bash", {"command": command, **more}, id=name)


def _command_line(pid: str) -> bytes:
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
    return line if line.startswith(b"/bin/sleep\0") else b""


@pytest.mark.parametrize("sandbox", PLACES)
@pytest.mark.parametrize("how", ["SIGTERM", "SIGHUP", "SIGKILL", "SIGSEGV"])
def test_a_signal_leaves_no_process(tmp_path: Path, how: str, sandbox: bool) -> None:
    place, gate = Place(tmp_path.resolve(), sandbox=sandbox), Gate()
    with MockMessagesApi(place.script(gate)).run_in_thread() as api:
        process = subprocess.Popen(
            [TOOLPOST, "-p", "go", "--dangerously-skip-permissions"],
            cwd=place.project,
            env=place.env(api),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        place.until_all_run()
        process.send_signal(signal.Signals[how])
        process.wait()
        place.assert_nothing_is_left()
        gate.open()


@pytest.mark.skipif(not HAS_TMUX, reason="tmux is not installed: no terminal to close")
@pytest.mark.parametrize("sandbox", PLACES)
def test_a_terminal_that_is_closed_leaves_no_process(tmp_path: Path, sandbox: bool) -> None:
    place, gate = Place(tmp_path.resolve(), sandbox=sandbox), Gate()
    with MockMessagesApi(place.script(gate)).run_in_thread() as api:
        command = [TOOLPOST, "--dangerously-skip-permissions"]
        with pane(command, cwd=place.project, env=place.env(api)) as terminal:
            terminal.shows(r"(?m)^›")
            terminal.send("go")
            place.until_all_run()
        place.assert_nothing_is_left()
        gate.open()
