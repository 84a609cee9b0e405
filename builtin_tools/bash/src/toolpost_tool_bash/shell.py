"""One command in a fresh bash, which tells at its end where it left off and what it ran last."""

from __future__ import annotations

import os
import shlex
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from toolpost import Shell

if TYPE_CHECKING:
    from collections.abc import Mapping

# Longer ones would not fit into one argument of a program (131,072 bytes on Linux).
_MOST_ARGUMENT = 100_000
_UNSET = ("BASH_ENV", "ENV", "CDPATH", "GLOBIGNORE", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "BASH_XTRACEFD")
# The end is told by a trap, so that `exit` and `set -e` lose nothing, and to a file, because a descriptor would be inherited
# by everything that the command starts. A trap of the command's own takes its place, and the folder then stays.
_SETUP = r"""
printf -v __toolpost %q "$1"
trap "{ __toolpost=\"\${PIPESTATUS[*]}\"; set +xv; } 2>/dev/null
{ builtin pwd -P; builtin printf '\\0%s\\0%s\\0' \"\$BASH_COMMAND\" \"\$__toolpost\"; } >|$__toolpost 2>/dev/null" EXIT
unset __toolpost
"""


def setup_file(folder: Path) -> Path:
    """Return where the session's setup is; it may not be there yet."""
    return folder / "bash-setup.sh"


def write_setup(file: Path, snapshot: str = "") -> None:
    """Write what every bash of the session reads first; `snapshot` defines functions and aliases."""
    new = file.with_name(f"{file.name}.{uuid.uuid4().hex[:8]}")
    new.write_text(snapshot + _SETUP, "utf-8", errors="surrogateescape")
    new.replace(file)


def fresh_bash(command: str, *, env: Mapping[str, str], folder: Path, aliases: bool = False) -> Shell:
    """Return a bash for one command; the setup is there. Raises OSError where `folder` can't be written.

    With `aliases` the setup stands on a line of its own, as what a line defines is expanded in those after it. Otherwise
    the lines of the command keep their numbers.
    """
    name = f"bash-{uuid.uuid4().hex[:12]}"
    told, script = folder / f"{name}.told", None
    told.touch(0o600)
    setup = f". {shlex.quote(str(setup_file(folder)))} {shlex.quote(str(told))}"
    text = f"{setup}{chr(10) if aliases else '; '}{command}\n"
    if len(text) <= _MOST_ARGUMENT // 4 or len(text.encode()) <= _MOST_ARGUMENT:
        last = ["-c", text]
    else:
        script = folder / f"{name}.sh"
        script.write_text(text, "utf-8")
        last = [str(script)]
    kept = {key: value for key, value in env.items() if key not in _UNSET}
    return Shell(argv=("bash", "--noprofile", "--norc", *last), env=Shell.environment(kept), told=told, script=script)


def environment(given: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment to start from."""
    return given or os.environ
