"""Files of variables that hooks left: one that ends the shell which reads it, or keeps it, must not end every command."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final, TypeAlias

from toolpost import StashKey

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from toolpost import ToolContext

LIMIT: Final = 10.0
"""Seconds that bash may take to read one."""
_END: Final = "toolpost read it to its end"
_VALUE: Final = r"""(?:[\w@%+=:,./~-]|'[^']*'|"[^"`$\\]*")*"""
_PLAIN: Final = re.compile(rf"(?:\s|#[^\n]*|(?:export[ \t]+)?[A-Za-z_]\w*={_VALUE}[ \t]*(?:\n|$))*+")
"""Assignments of plain values and nothing else, which end no shell."""

Looked: TypeAlias = "dict[Path, tuple[int, int, bool]]"
LOOKED = StashKey["Looked"]("bash.variables")
"""The files that were looked at: when each was written, its size, and whether bash gets to its end."""


async def readable(
    files: Sequence[Path], ctx: ToolContext, reads: Callable[[Sequence[str]], Awaitable[str]]
) -> tuple[Sequence[Path], str]:
    """Return the files that bash can read, and what the model is to be told of others, once for each time it is written.

    `reads` runs an argv as the command will run, and returns what it prints. Raises OSError, and what `reads` raises.
    """
    looked = ctx.state.stash.setdefault(LOOKED, {})
    kept, told = [], []
    for file in files:
        stat = file.stat()
        written = (stat.st_mtime_ns, stat.st_size)
        if file not in looked or looked[file][:2] != written:
            looked[file] = (*written, await _ends(file, reads))
            if not looked[file][2]:
                told.append(f"{file}, where variables for commands are left, is not read: bash does not get to its end")
        if looked[file][2]:
            kept.append(file)
    for text in told:
        ctx.interface.warn(f"{text}. Take out what ends bash or keeps it waiting, such as `exit`.")
    return kept, "; ".join(told)


async def _ends(file: Path, reads: Callable[[Sequence[str]], Awaitable[str]]) -> bool:
    if _is_plain(file):
        return True
    text = f". {shlex.quote(str(file))}; builtin echo; builtin echo {shlex.quote(_END)}"
    return (await reads(("bash", "--noprofile", "--norc", "-c", text))).rstrip().endswith(_END)


def _is_plain(file: Path) -> bool:
    return _PLAIN.fullmatch(file.read_text("utf-8", errors="replace")) is not None
