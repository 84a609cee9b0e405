"""What the commands about plugins print for a person, and for a pipe."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
import termios
from contextlib import suppress
from typing import Any

import pytest

COMMANDS = [
    ("plugins", "list"),
    ("plugins", "info", "read"),
    ("plugins", "doctor"),
    ("plugins", "profile"),
    ("plugins", "verify"),
    ("doctor",),
]
BROKEN = "raise OSError('no licence')\n"


def in_terminal(toolpost: Any, *arguments: str) -> str:
    """Run a command in a terminal of 100 columns; return what it prints there."""
    above, below = os.openpty()
    fcntl.ioctl(below, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    env = {**toolpost.env, "TERM": "xterm-256color"}
    env.pop("NO_COLOR", None)
    with subprocess.Popen(
        toolpost.command(*arguments), stdin=below, stdout=below, stderr=below, cwd=toolpost.project, env=env
    ) as process:
        os.close(below)
        printed = b""
        with suppress(OSError):  # a terminal whose last program has ended
            while part := os.read(above, 65536):
                printed += part
        process.wait(60)
    os.close(above)
    return printed.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_person_sees_a_table_and_a_pipe_gets_plain_text(toolpost: Any, command: tuple[str, ...]) -> None:
    toolpost.install("acme-bad", "tools", "bad", BROKEN)
    toolpost.settings({"plugins": {"bad": True}})
    if command[-1] == "verify":
        toolpost("plugins", "lock")
        (toolpost.site / "acme_bad.py").write_text(BROKEN + "# changed\n", encoding="utf-8")
    shown, piped = in_terminal(toolpost, *command), toolpost(*command).stdout

    assert "\x1b[1m" in shown
    assert "fault of Toolpost" not in shown
    assert piped
    assert "\x1b" not in piped
    assert all(line == line.rstrip() for line in piped.splitlines())
