"""What every bash of a session reads before its command: it has bash tell at its end where it left off and what it ran last.

That is told by a trap, so that `exit` and `set -e` lose nothing, and to a file, because a descriptor would be inherited by
everything that the command starts.
"""

from __future__ import annotations

import shlex
import uuid
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_FILE: Final = "bash-setup.sh"
_LOGIN: Final = "bash-login.sh"
_VARIABLE: Final = "TOOLPOST_LOGIN"

# `$?`, PIPESTATUS and BASH_COMMAND are those of the command, also for a trap of the command's own: that one runs in either
# branch of an `if`, as a condition passes its status on and `set -e` does not end it.
_SETUP: Final = r"""
__toolpost_told=$1
__toolpost_end() {
  local code=$? statuses="${PIPESTATUS[*]}" options=$-
  set +xv
  { builtin pwd -P; builtin printf '\0%s\0%s\0' "$1" "$statuses"; } >|"$__toolpost_told" 2>/dev/null
  if [[ $options == *x* ]]; then set -x; fi
  return $code
}
builtin trap '{ __toolpost_end "$BASH_COMMAND" || :; } 2>/dev/null' EXIT
if [[ -n ${2-} ]]; then
  trap() {
    builtin trap "$@"
    { __toolpost_keep; } 2>/dev/null
  }
  __toolpost_keep() {
    local code=$? now=
    if [[ ${BASHPID-} == "$$" ]]; then
      now=$(builtin trap -p EXIT)
      if [[ $now != *__toolpost_end* ]]; then
        eval "set -- $now"
        builtin trap "if { __toolpost_end \"\$BASH_COMMAND\"; } 2>/dev/null
then
${3-}
:
else
${3-}
:
fi" EXIT
      fi
    fi
    return $code
  }
fi
"""


def is_written(folder: Path) -> bool:
    """Whether the setup of a session is in a folder."""
    return (folder / _FILE).exists()


def write(folder: Path, snapshot: str = "") -> None:
    """Write the setup; `snapshot` defines functions and aliases. Raises OSError."""
    if snapshot:
        _put(folder / _LOGIN, f"unset BASH_ENV {_VARIABLE}\n{snapshot}")
    _put(folder / _FILE, _SETUP)


def reading(folder: Path, told: Path, command: str) -> str:
    """Return what has to stand before a command, on its first line: lines keep their numbers."""
    # A function in the place of `trap` would itself have a trap for RETURN or DEBUG run, when it returns.
    keeps = "trap" in command and "RETURN" not in command and "DEBUG" not in command
    return f". {shlex.quote(str(folder / _FILE))} {shlex.quote(str(told))}{' keep' if keeps else ''}; "


def login(folder: Path) -> Mapping[str, str]:
    """Return the variables by which bash reads the snapshot, if there is one, before it reads a script's first line.

    Not with `-c`: bash then forgets which command it ran last.
    """
    file = folder / _LOGIN
    # Bash expands what BASH_ENV holds, but not once more what a variable in it stands for.
    return {"BASH_ENV": f"${{{_VARIABLE}}}", _VARIABLE: str(file)} if file.exists() else {}


def _put(file: Path, text: str) -> None:
    new = file.with_name(f"{file.name}.{uuid.uuid4().hex[:8]}")
    new.write_text(text, "utf-8", errors="surrogateescape")
    new.replace(file)
