"""One command in a fresh bash."""

from __future__ import annotations

import os
import shlex
import uuid
from typing import TYPE_CHECKING

from toolpost import Shell

from . import setup

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

# Longer ones would not fit into one argument of a program (131,072 bytes on Linux).
_MOST_ARGUMENT = 100_000
_UNSET = ("BASH_ENV", "ENV", "CDPATH", "GLOBIGNORE", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "BASH_XTRACEFD")


def fresh_bash(
    command: str, *, env: Mapping[str, str], folder: Path, before: Sequence[Path] = (), note: str = ""
) -> Shell:
    """Return a bash for one command; the setup is in `folder`, and `before` are files that it reads first of all.

    A `note` is printed before the command's own output. Raises OSError where the folder can't be written.
    """
    name = f"bash-{uuid.uuid4().hex[:12]}"
    told, script = folder / f"{name}.told", None
    told.touch(0o600)
    first = f"builtin printf '%s\\n' {shlex.quote(note)} >&2; " if note else ""
    first += "".join(f". {shlex.quote(str(file))}; " for file in before)
    text = f"{first}{setup.reading(folder, told, command)}{command}\n"
    login = setup.login(folder)
    if login or (len(text) > _MOST_ARGUMENT // 4 and len(text.encode()) > _MOST_ARGUMENT):
        script = folder / f"{name}.sh"
        script.write_text(text, "utf-8")
        last = [str(script)]
    else:
        last = ["-c", text]
    return Shell(
        argv=("bash", "--noprofile", "--norc", *last),
        env={**Shell.environment(kept_from(env)), **login},
        told=told,
        script=script,
    )


def kept_from(env: Mapping[str, str]) -> Mapping[str, str]:
    """Return an environment without what would have bash do something else than its command."""
    return {key: value for key, value in env.items() if key not in _UNSET}


def environment(given: Mapping[str, str]) -> Mapping[str, str]:
    """Return the environment to start from."""
    return given or os.environ
