"""The REPL in a real terminal: tmux holds it, and what is asserted is what a person would see."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed: no terminal to look at")

# Says whether the terminal is as it was: it echoes, takes lines, and makes Enter a line feed.
AFTER = "stty -a | grep -qE -- '-icanon|-echo |-icrnl' && echo BROKEN || echo AS BEFORE; exec sleep 60"

Start = Callable[..., "Pane"]


class Pane:
    """A terminal of its own, on a tmux server of its own."""

    def __init__(self, socket: Path, command: str, columns: int, rows: int) -> None:
        self._tmux = ["tmux", "-S", str(socket), "-f", os.devnull]
        self._run("new-session", "-d", "-s", "t", "-x", str(columns), "-y", str(rows), command)

    def type(self, text: str) -> None:
        self._run("send-keys", "-t", "t", "-l", text)

    def press(self, *keys: str) -> None:
        self._run("send-keys", "-t", "t", *keys)

    def send(self, text: str) -> None:
        self.type(text)
        self.press("Enter")

    def screen(self) -> str:
        return self._run("capture-pane", "-t", "t", "-p").rstrip()

    def colours(self) -> set[str]:
        """Return the colours that are on the screen, as the numbers of their sequences."""
        screen = self._run("capture-pane", "-t", "t", "-p", "-e")
        numbers = {number for given in re.findall(r"\x1b\[([\d;]*)m", screen) for number in given.split(";")}
        return {number for number in numbers if re.fullmatch(r"[349][0-8]|10[0-7]", number)}

    def shows(self, pattern: str) -> str:
        """Return the screen once it matches; fails with the screen if it does not within ten seconds."""
        return self._until(lambda screen: re.search(pattern, screen) is not None, f"{pattern!r} never showed")

    def no_longer_shows(self, pattern: str) -> str:
        return self._until(lambda screen: re.search(pattern, screen) is None, f"{pattern!r} stayed")

    def terminate(self) -> None:
        """Send SIGTERM to the front end's process."""
        shell = self._run("display-message", "-t", "t", "-p", "#{pane_pid}").strip()
        command = ["ps", "-ww", "-o", "pid=,args=", "--ppid", shell]
        children = subprocess.run(command, check=True, capture_output=True, text=True)
        (line,) = [line for line in children.stdout.splitlines() if "scripted_terminal" in line]
        os.kill(int(line.split()[0]), signal.SIGTERM)

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)

    def _until(self, holds: Callable[[str], bool], otherwise: str) -> str:
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            screen = self.screen()
            if holds(screen):
                return screen
            time.sleep(0.02)
        raise AssertionError(f"{otherwise} on this screen:\n{self.screen()}")

    def _run(self, *arguments: str) -> str:
        done = subprocess.run([*self._tmux, *arguments], check=True, capture_output=True, text=True, timeout=20)
        return done.stdout


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start the front end in a terminal; what is left of it is ended with the test."""
    panes: list[Pane] = []
    # A socket's path may have some hundred bytes only, which pytest's own folders use up.
    sockets = Path(tempfile.mkdtemp(prefix="tp-"))

    def run(columns: int = 80, rows: int = 30, env: str = "", before: str = "", **options: Any) -> Pane:
        command = [sys.executable, str(HERE / "scripted_terminal.py"), json.dumps(options)]
        home = tmp_path / "home"
        shell = f"cd {shlex.quote(str(tmp_path))}; HOME={shlex.quote(str(home))} {env} {shlex.join(command)}"
        panes.append(Pane(sockets / str(len(panes)), f"{before}{shell}; echo EXIT $?; {AFTER}", columns, rows))
        return panes[-1]

    yield run
    for pane in panes:
        pane.close()
    shutil.rmtree(sockets)


def test_the_prompt_is_drawn_before_the_session_is_open_and_keeps_what_is_typed(start: Start) -> None:
    pane = start(opening=1.5)
    pane.shows("Opening the session")
    pane.send("hello")
    assert "You said" not in pane.screen()
    pane.shows("You said: hello")


def test_an_answer_streams_and_is_markdown_in_the_end(start: Start) -> None:
    pane = start()
    pane.shows("/help")
    pane.send("stream")
    pane.shows("Writing…")
    screen = pane.shows("That is all")
    assert screen.count("I looked at two files:") == 1
    assert "**" not in screen
    assert "```" not in pane.no_longer_shows("Writing")


def test_a_digit_answers_a_question(start: Start) -> None:
    pane = start()
    pane.shows("/help")
    pane.send("bash")
    pane.shows("1. Yes\n.*2. Yes, always: Bash\\(make:\\*\\) → .toolpost/settings.local.json\n.*3. No")
    pane.type("1")
    screen = pane.shows("● Bash\\(make clean\\)\n  ⎿  cleaned")
    assert "→ Yes" in screen


def test_arrows_and_a_reason_refuse(start: Start) -> None:
    pane = start()
    pane.shows("/help")
    pane.send("bash")
    pane.shows("3. No")
    pane.press("Down", "Down", "Enter")
    pane.shows("Instead:")
    pane.send("use git clean")
    pane.shows("The user said no: use git clean")


def test_a_text_that_is_typed_on_refuses_and_allows_nothing(start: Start) -> None:
    pane = start()
    pane.shows("/help")
    pane.send("bash")
    pane.shows("3. No")
    pane.type("u")
    pane.shows("Instead: u")
    pane.send("se git clean")
    pane.shows("The user said no: use git clean")


def test_escape_refuses_and_stops_the_turn(start: Start) -> None:
    pane = start()
    pane.shows("/help")
    pane.send("bash")
    pane.shows("3. No")
    pane.press("Escape")
    pane.shows("→ No, stop")
    pane.shows("Interrupted")
    pane.send("still here")
    pane.shows("You said: still here")


@pytest.mark.parametrize("key", ["Escape", "C-c"])
def test_a_turn_is_interrupted_and_the_program_goes_on(start: Start, key: str) -> None:
    pane = start()
    pane.shows("/help")
    pane.send("run")
    pane.shows("Bash\\(make all\\)(.|\n)*⎿  cc -c one.c")
    pane.press(key)
    pane.shows("⏹ Interrupted")
    pane.send("still here")
    pane.shows("You said: still here")


def test_what_is_typed_during_a_turn_waits_and_comes_back_on_an_interrupt(start: Start) -> None:
    pane = start()
    pane.shows("/help")
    pane.send("run")
    pane.shows("make all")
    pane.send("then this")
    pane.shows("next: then this")
    pane.press("Escape")
    pane.shows("› then this")
    assert "You said" not in pane.screen()


def test_what_waits_comes_back_one_by_one_to_be_changed_and_is_the_next_prompt_then(start: Start) -> None:
    pane = start()
    pane.shows("/help")
    pane.send("run")
    pane.shows("make all")
    pane.send("first")
    pane.send("second")
    pane.shows(r"next: first\n\s+next: second")
    pane.press("Up")
    pane.shows("› second")
    pane.no_longer_shows("next: second")
    pane.type(" and more")
    pane.press("Enter")
    pane.shows(r"next: second and more")
    pane.press("Escape")
    pane.shows(r"› first\n\s+second and more")


def test_a_session_that_wakes_shows_its_turn_and_leaves_what_is_being_typed(start: Start) -> None:
    pane = start(wakes=1.0)
    pane.shows("/help")
    pane.type("half a th")
    pane.shows("You said: a task ended")
    pane.shows("› half a th")
    pane.type("ought")
    pane.press("Enter")
    pane.shows("You said: half a thought")


def test_control_c_leaves_at_the_second_time_only(start: Start) -> None:
    pane = start()
    pane.shows("/help")
    pane.type("half a line")
    pane.shows("half a line")
    pane.press("C-c")
    pane.no_longer_shows("half a line")
    pane.press("C-c")
    pane.shows("Ctrl-C again leaves")
    pane.press("C-c")
    pane.shows("EXIT 0")


def test_control_d_leaves(start: Start) -> None:
    pane = start()
    pane.shows("/help")
    pane.press("C-d")
    pane.shows("EXIT 0\nAS BEFORE")


def test_where_only_one_prompt_is_answered_there_is_no_line_to_type_in(start: Start) -> None:
    pane = start(prompt="run", extra={"once": True})
    pane.shows("Bash\\(make all\\)")
    pane.send("more")
    pane.press("C-r")
    assert "more" not in pane.screen()
    pane.press("C-c")
    screen = pane.shows("EXIT 130\nAS BEFORE")
    assert "\n›\n" not in screen


def test_an_end_before_the_input_line_is_there_gives_the_terminal_back(start: Start) -> None:
    pane = start(undrawn=True)
    pane.shows("›")
    pane.terminate()
    pane.shows("EXIT 143\nAS BEFORE")


def test_lines_typed_before_the_program_runs_are_sent(start: Start) -> None:
    pane = start(before="sleep 1; ")
    pane.send("hello")
    pane.type("half")
    pane.shows("You said: hello(.|\n)*› half")


def test_control_z_stops_the_program_and_it_comes_back_as_it_was(start: Start) -> None:
    pane = start(before="set -m; ")
    pane.shows("/help")
    pane.type("half a line")
    pane.press("C-z")
    pane.shows("EXIT 14\\d\nAS BEFORE")


def test_control_r_searches_what_was_sent(start: Start) -> None:
    pane = start()
    pane.shows("/help")
    pane.send("find the needle")
    pane.shows("You said: find")
    pane.send("another")
    pane.shows("You said: another")
    pane.press("C-r")
    pane.type("need")
    pane.shows("› find the needle\n  Search back: need")
    pane.press("Enter")
    pane.shows("› find the needle\n  model-1")


def test_no_color_is_obeyed_everywhere(start: Start) -> None:
    pane = start(env="NO_COLOR=1")
    pane.shows("/help")
    pane.send("bash")
    pane.shows("3. No")
    assert pane.colours() == set()


def test_the_status_is_cut_where_the_terminal_is_narrow(start: Start) -> None:
    pane = start(columns=24)
    pane.shows("  model-1 · default mo…")


def test_lines_are_broken_with_alt_enter_and_with_a_backslash(start: Start) -> None:
    pane = start()
    pane.shows("/help")
    pane.type("one\\")
    pane.press("Enter")
    pane.type("two")
    pane.press("M-Enter")
    pane.send("three")
    pane.shows("› one\n  two\n  three")
    pane.shows("You said: one")


def test_history_comes_back_in_the_next_sitting(start: Start, tmp_path: Path) -> None:
    pane = start()
    pane.shows("/help")
    pane.send("remember me")
    pane.shows("You said: remember me")
    pane.press("C-d")
    pane.shows("EXIT 0")
    history = tmp_path / "home" / ".toolpost" / "prompt_history"
    assert history.stat().st_mode & 0o077 == 0
    again = start()
    again.shows("/help")
    again.press("Up")
    again.shows("› remember me")


def test_what_tools_and_models_say_cannot_command_the_terminal(start: Start) -> None:
    pane = start()
    pane.shows("/help")
    pane.send("escape")
    screen = pane.shows("● Bash\\(printf\\)\n  ⎿  red plain")
    assert "before after" in screen
    assert "toolpost 1.2.3" in screen, "the screen was not cleared"


def test_a_narrow_terminal_with_wide_characters_stays_whole(start: Start) -> None:
    pane = start(columns=24, rows=40)
    pane.shows("1.2.3")
    pane.send("wide")
    screen = pane.shows("結果は(.|\n)*›")
    assert re.search(r"● Bash\(echo 漢.*…", screen)


def test_a_retry_is_visible(start: Start) -> None:
    pane = start()
    pane.shows("/help")
    pane.send("retry")
    pane.shows("overloaded; retrying in 4 s \\(3/10\\)")
    pane.shows("Retrying \\(3/10\\) in \\d s…")


def test_a_terminal_that_cannot_redraw_gets_plain_lines(start: Start) -> None:
    pane = start(env="TERM=dumb")
    pane.shows("›")
    pane.send("hello")
    assert pane.shows("You said: hello").count("› hello") == 1, "the terminal echoed it already"
    pane.send("bash")
    pane.shows("3. No(.|\n)*Number, or what to do instead:")
    pane.send("use git clean")
    pane.shows("The user said no: use git clean")
    pane.send("retry")
    pane.shows("3/10")
    pane.press("C-c")
    pane.shows("Interrupted")
    pane.press("C-d")
    pane.shows("EXIT 0")


def test_a_terminate_signal_gives_the_terminal_back(start: Start) -> None:
    pane = start()
    pane.shows("/help")
    pane.terminate()
    pane.shows("EXIT 143\nAS BEFORE")
