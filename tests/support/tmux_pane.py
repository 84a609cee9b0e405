"""A real terminal for tests: tmux holds it, and what is asserted is what a person would see."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

HAS_TMUX = shutil.which("tmux") is not None
PATIENCE = 20.0


class Pane:
    """A terminal of its own, on a tmux server of its own."""

    def __init__(self, socket: Path, command: str, columns: int, rows: int) -> None:
        self._tmux = ["tmux", "-S", str(socket), "-f", os.devnull]
        self._run("new-session", "-d", "-s", "t", "-x", str(columns), "-y", str(rows), command)

    def type(self, text: str) -> None:
        """Type a text."""
        self._run("send-keys", "-t", "t", "-l", text)

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names, such as `Enter`."""
        self._run("send-keys", "-t", "t", *keys)

    def send(self, text: str) -> None:
        """Type a line and press Enter."""
        self.type(text)
        self.press("Enter")

    def screen(self) -> str:
        """Return what is on the screen."""
        return self._run("capture-pane", "-t", "t", "-p").rstrip()

    def shows(self, pattern: str) -> str:
        """Return the screen once it matches and stands still; fails with the screen if it does not."""
        return self._until(lambda screen: re.search(pattern, screen) is not None, pattern)

    def close(self) -> None:
        """End the terminal and what runs in it."""
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)

    def _until(self, holds: Callable[[str], bool], wanted: str) -> str:
        deadline, last = time.monotonic() + PATIENCE, ""
        while time.monotonic() < deadline:
            screen = self.screen()
            if screen == last and holds(screen):
                return screen
            last = screen
            time.sleep(0.05)
        raise AssertionError(f"{wanted!r} never showed on this screen:\n{self.screen()}")

    def _run(self, *arguments: str) -> str:
        done = subprocess.run([*self._tmux, *arguments], check=True, capture_output=True, text=True, timeout=20)
        return done.stdout


@contextmanager
def pane(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], columns: int = 80, rows: int = 30
) -> Iterator[Pane]:
    """Run a command in a terminal, with this environment and nothing else of ours."""
    # A socket's path may have some hundred bytes only, which pytest's own folders use up.
    sockets = Path(tempfile.mkdtemp(prefix="tp-"))
    given = " ".join(f"{name}={shlex.quote(value)}" for name, value in env.items())
    made = Pane(sockets / "0", f"cd {shlex.quote(str(cwd))}; exec env -i {given} {shlex.join(command)}", columns, rows)
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(sockets, ignore_errors=True)
