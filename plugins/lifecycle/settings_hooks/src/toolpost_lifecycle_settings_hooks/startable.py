"""Whether a hook's command is there to be started: a typo in its path would let everything through."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

_LONGEST_LINE: Final = 256
"""Bytes of a first line, as the kernel reads it."""
_PROJECT: Final = re.compile(r"\$\{?(?:TOOLPOST|CLAUDE)_PROJECT_DIR\}?(?!\w)")
_UNCLEAR: Final = re.compile(r"[$`*?\[\]{}()<>;&|#!\\]|^\w+=")
_OF_SHELLS: Final = re.compile(
    r"\.|:|alias|bg|bind|break|builtin|case|cd|command|continue|declare|dirs|echo|enable|eval|exec|exit|export|false|fg|for"
    r"|function|getopts|hash|help|history|if|jobs|kill|let|local|logout|mapfile|popd|printf|pushd|pwd|read|readonly|return"
    r"|set|shift|shopt|source|suspend|test|time|times|trap|true|type|typeset|ulimit|umask|unalias|unset|until|wait|while"
)
"""What a shell does itself."""


def why_not_startable(handler: Mapping[str, Any], project: Path, env: Mapping[str, str]) -> str:
    """Say why a hook's command can't start; empty where it can, and where only its shell could say."""
    command = handler.get("command")
    if handler["type"] != "command" or not isinstance(command, str):
        return ""
    if handler.get("args") is None:
        if handler.get("shell") == "powershell":
            return ""
        word = _first_word(command, project)
    else:
        word = _PROJECT.sub(lambda _: str(project), command)
        word = "" if "${" in word else word
    return _why_not(word, project, env) if word else ""


def _first_word(command: str, project: Path) -> str:
    """The program of a shell's command; empty where it is none, or what it is can't be seen."""
    try:
        words = shlex.split(_PROJECT.sub(lambda _: str(project), command))
    except ValueError:
        return ""
    word = words[0] if words else ""
    return "" if _UNCLEAR.search(word) or _OF_SHELLS.fullmatch(word) else word


def _why_not(word: str, project: Path, env: Mapping[str, str]) -> str:
    if "/" not in word:
        found = shutil.which(word, path=env.get("PATH", os.defpath))
        return "" if found else f"there is no program {word!r} on the PATH"
    file = project / Path(word).expanduser()
    if not file.exists():
        return f"there is no file {file}{_nearest(file)}"
    if not (file.is_file() and os.access(file, os.X_OK)):
        return f"{file} is not executable; chmod +x makes it so"
    interpreter = _interpreter(file)
    if interpreter is None or interpreter.exists():
        return ""
    return f"the first line of {file} names {interpreter}, and there is no such program"


def _interpreter(file: Path) -> Path | None:
    """Return what the first line of a script says that runs it."""
    try:
        with file.open("rb") as script:
            first = script.readline(_LONGEST_LINE)
    except OSError:
        return None
    words = first.removeprefix(b"#!").split()
    return Path(os.fsdecode(words[0])) if first.startswith(b"#!") and words else None


def _nearest(file: Path) -> str:
    from difflib import get_close_matches

    try:
        names = [other.name for other in file.parent.iterdir()]
    except OSError:
        return ""
    close = get_close_matches(file.name, names, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
