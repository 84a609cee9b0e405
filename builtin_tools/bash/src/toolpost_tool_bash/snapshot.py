"""The functions and aliases of the user's login shell, for who wants them in each command."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from toolpost import Processes

_SECONDS = 10.0
_MOST_BYTES = 1_000_000
# First a NUL, as start-up files may print whatever they like; then names that are taken, then name and definition each.
_SCRIPT = r"""
builtin printf '\0'; builtin compgen -b; builtin compgen -k; builtin printf '\0'
_toolpost_tell() { builtin printf '%s\0' "${!#}"; builtin "$@"; builtin printf '\0'; }
for name in $(builtin compgen -a); do _toolpost_tell alias -- "$name"; done
for name in $(builtin compgen -A function); do _toolpost_tell declare -f -- "$name"; done
"""


async def snapshot(processes: Processes, *, env: Mapping[str, str], cwd: Path) -> str:
    """Return bash code that defines them. Raises OSError where bash can't be started, TimeoutError where it hangs.

    A name that is a program, a builtin or a keyword keeps its meaning: the permission rules judge it by that.
    """
    ended = await processes.run(
        ["bash", "-l", "-i", "-c", _SCRIPT], cwd=cwd, env=env, timeout=_SECONDS, max_output=_MOST_BYTES
    )
    if ended.timed_out:
        raise TimeoutError(f"the login shell did not come to its end within {_SECONDS:g} s")
    fields = ended.output.decode("utf-8", errors="surrogateescape").split("\0")[1:]
    if not fields or ended.dropped:
        return ""
    taken = set(fields[0].split())
    definitions = [text for name, text in _pairs(fields[1:]) if _is_new(name, taken, env.get("PATH"))]
    return "\n".join(["shopt -s expand_aliases", *definitions, ""])


def _pairs(fields: list[str]) -> Iterator[tuple[str, str]]:
    yield from zip(fields[::2], fields[1::2], strict=False)


def _is_new(name: str, taken: set[str], path: str | None) -> bool:
    """Whether a name means nothing yet, and is no completion function, of which there are thousands."""
    completes = name.startswith("_") and not name.startswith("__")
    return not completes and name not in taken and "/" not in name and shutil.which(name, path=path) is None
