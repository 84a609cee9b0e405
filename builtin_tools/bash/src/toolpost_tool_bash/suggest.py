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

# Programs whose first argument says what they do. Of all others only the very command is offered: what follows the name
# may be anything, and a prefix would grant all of it.
_WITH_SUBCOMMANDS: Final = words(
    """
    apt brew bundle bun cargo composer dotnet flutter gh git go gradle hatch helm just make mix mvn npm pip pip3 pnpm poetry
    rake rustup sbt swift task terraform tox uv yarn
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
    named = program in _WITH_SUBCOMMANDS and arguments and _SUBCOMMAND.fullmatch(arguments[0])
    return f"{program} {arguments[0]} *" if named and _words_only(part.argv) else part.text


def _words_only(argv: Iterable[str]) -> bool:
    """Whether a specifier can be written without a wildcard that the command did not mean."""
    return not any("*" in word or "\n" in word or ":*" in word for word in argv)
