"""The functions and aliases of the user's login shell, for who wants them in each command."""

from __future__ import annotations

import shlex
import shutil
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from toolpost import Processes

_SECONDS = 10.0
_MOST_BYTES = 1_000_000
# Start-up files may print whatever they like, so a mark of ours comes first. Aliases count from the next line on.
_SCRIPT = r"""
builtin shopt -u expand_aliases; builtin trap - DEBUG; IFS=$' \t\n'
builtin printf '%s\0' "$0"; builtin compgen -b; builtin compgen -k; builtin printf '\0'
_toolpost_tell() { builtin printf '%s\0' "${!#}"; builtin "$@"; builtin printf '\0'; }
for name in $(builtin compgen -a); do _toolpost_tell alias -- "$name"; done
for name in $(builtin compgen -A function); do _toolpost_tell declare -f -- "$name"; done
"""
_DEFINES = "{0} ()", "alias {0}=", "alias -- {0}="
"""How a definition begins, as bash prints it."""


async def snapshot(processes: Processes, *, env: Mapping[str, str], cwd: Path) -> str:
    """Return bash code that defines them. Raises OSError where bash can't be started, TimeoutError where it hangs.

    A name that is a program, a builtin or a keyword keeps its meaning: the permission rules judge it by that.
    """
    mark = f"bash-{uuid.uuid4().hex}"
    ended = await processes.run(
        ["bash", "-l", "-i", "-c", _SCRIPT, mark], cwd=cwd, env=env, timeout=_SECONDS, max_output=_MOST_BYTES
    )
    if ended.timed_out:
        raise TimeoutError(f"the login shell did not come to its end within {_SECONDS:g} s")
    fields = ended.output.decode("utf-8", errors="surrogateescape").partition(f"{mark}\0")[2].split("\0")
    if ended.dropped:
        return ""
    taken = set(fields[0].split())
    pairs = [(name, text) for name, text in _pairs(fields[1:]) if _is_new(name, taken, env.get("PATH"))]
    # Each by itself: one that bash can't read again, as one with patterns that it knows with extglob only, is left out.
    definitions = [f"eval {shlex.quote(text)} 2>/dev/null" for name, text in pairs if _defines(text, name)]
    return "\n".join(["shopt -s expand_aliases", *definitions, ""])


def _pairs(fields: list[str]) -> Iterator[tuple[str, str]]:
    yield from zip(fields[::2], fields[1::2], strict=False)


def _defines(text: str, name: str) -> bool:
    """Whether a text defines the name: a start-up file may have had something else printed beside it."""
    return text.startswith(tuple(form.format(name) for form in _DEFINES))


def _is_new(name: str, taken: set[str], path: str | None) -> bool:
    """Whether a name means nothing yet, and is no completion function, of which there are thousands."""
    completes = name.startswith("_") and not name.startswith("__")
    return not completes and name not in taken and "/" not in name and shutil.which(name, path=path) is None
