"""The rules that "yes, always" would write for a command."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from .syntax import words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolpost import CommandPart, PermissionMatcher

MOST: Final = 5
"""A line of more programs gets no suggestion: nobody reads so many rules before saying yes (compat.md 1.3)."""

# A prefix of these would grant whatever their arguments say, or lose something: only the very command is offered.
_WHOLE_LINE_ONLY: Final = words(
    """
    awk bash dash dd docker env eval exec find gawk ksh kubectl mv node perl php podman python python3 rm rsync ruby scp
    sed sh ssh su sudo tclsh tee xargs zsh
    """
)
_SUBCOMMAND: Final = re.compile(r"[a-z][a-z0-9:_-]*")


def specifiers(matcher: PermissionMatcher) -> tuple[str, ...]:
    """Return one specifier for each program that needs a grant; none where that would not allow the line."""
    needed = [part for part in matcher.parts if not part.read_only and part.argv]
    if matcher.doubt:
        return ()
    found = {part.text: _specifier(part) for part in needed}
    helps = all(matcher.matches(part, found[part.text], "allow") for part in needed)
    offered = tuple(dict.fromkeys(found.values()))
    return offered if helps and len(offered) <= MOST else ()


def _specifier(part: CommandPart) -> str:
    program, *arguments = part.argv
    if program.rpartition("/")[2] in _WHOLE_LINE_ONLY or not _words_only(part.argv):
        return part.text
    if arguments and _SUBCOMMAND.fullmatch(arguments[0]):
        return f"{program} {arguments[0]} *"
    return part.text


def _words_only(argv: Iterable[str]) -> bool:
    """Whether a specifier can be written without a wildcard that the command did not mean."""
    return not any("*" in word or "\n" in word or ":*" in word for word in argv)
