from __future__ import annotations

import shutil
import subprocess
from typing import Any

import pytest

PROBE = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_toolpost
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def offered(toolpost: Any) -> Any:
    script = toolpost.project / "completion.bash"
    script.write_text(toolpost("completion", "bash").stdout, encoding="utf-8")

    def offer(*words: str) -> list[str]:
        command = ["bash", "--norc", "-c", PROBE, "probe", str(script), "toolpost", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
        assert done.stderr == ""
        return done.stdout.split()

    return offer


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_is_offered_what_fits_the_place(offered: Any) -> None:
    assert offered("plug") == ["plugins"]
    assert offered("--dangerously") == ["--dangerously-skip-permissions"]
    assert offered("--output-format", "s") == ["stream-json"]
    assert offered("plugins", "dis") == ["disable"]
    assert offered("-p", "--model", "x", "sessions", "expor") == ["export"]
    assert offered("sessions", "export", "--with") == ["--with-secrets"]
    assert offered("permissions", "add", "d") == ["deny"]
    assert "--yes" in offered("demo", "")
    assert offered("plugins", "plugins") == []


def test_each_script_knows_every_command_and_flag(toolpost: Any) -> None:
    from toolpost_core.cli.commands import COMMANDS
    from toolpost_core.cli.flags import FLAGS

    for shell in ("bash", "zsh", "fish"):
        script = toolpost("completion", shell).stdout
        missing = [name for name in COMMANDS if name not in script]
        assert missing + [name for flag in FLAGS for name in flag.names if name not in script] == []


def test_a_shell_that_is_not_known_is_answered_with_those_that_are(toolpost: Any) -> None:
    done = toolpost("completion", "tcsh")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'bash', 'zsh', 'fish'" in done.stderr
