"""The rules that "yes, always" would write for a command: as narrow as is of any use the next time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from .syntax import words
from .wrappers import SHELLS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolpost import CommandPart, PermissionMatcher

MOST: Final = 5
"""A line of more programs gets no suggestion: nobody reads so many rules before saying yes (compat.md 1.3)."""

_RUN: Final = "run run-script"
_CHECKS: Final = words(
    "pytest jest vitest eslint prettier mypy pyright tsc flake8 pylint black shellcheck phpunit rspec"
)
"""Programs that check the project's own code, with whatever options."""

_SUBCOMMANDS: Final[Mapping[str, str]] = {
    "npm": "test start ci install build",
    "pnpm": "test start install build lint",
    "yarn": "test start install build lint add",
    "bun": "test install build",
    "git": "add commit push pull fetch checkout switch restore merge stash tag branch revert cherry-pick rm mv",
    "cargo": "build check test clippy fmt doc bench run",
    "go": "build test vet fmt mod",
    "pip": "install",
    "pip3": "install",
    "uv": "sync add lock",
    "poetry": "install add build check",
    "ruff": "check format",
    "docker": "build ps images logs",
    "kubectl": "get describe logs",
    "terraform": "plan validate fmt",
    "helm": "template lint",
    "bundle": "install",
    "composer": "install",
    "dotnet": "build test restore format",
    "swift": "build test",
    "flutter": "build test analyze",
    "gradle": "build test check",
    "mvn": "test compile verify package",
    "sbt": "test compile",
    "mix": "test compile format",
    "brew": "install",
    "apt": "install",
}
"""Subcommands that say enough of what is done. What runs another program (npm exec, git bisect) is not among them."""

_NAMED: Final[Mapping[str, str]] = {
    "npm": _RUN,
    "pnpm": _RUN,
    "yarn": _RUN,
    "bun": "run",
    "gh": "pr issue repo release workflow run",
    "docker": "compose",
    "uv": "run",
    "poetry": "run",
}
"""Subcommands of which the next word, too, says what is done: a script's name, or a subcommand of theirs."""

_TARGETS: Final = words("make just task rake tox nox")
"""Programs whose first argument names something that the project's own file describes."""

_STARTERS: Final = SHELLS | words("python python3 pypy node deno bun perl ruby php lua npx env sudo xargs uvx pipx")
_FILLED: Final = words("xargs parallel")
_WORD: Final = re.compile(r"[A-Za-z][\w:.-]*")


def specifiers(matcher: PermissionMatcher) -> tuple[str, ...]:
    """Return one specifier for each program that needs a grant; none where that would not allow the line."""
    needed = [part for part in matcher.parts if not part.read_only and part.argv]
    if matcher.doubt or any(part.argv[0] in _FILLED for part in needed):
        return ()
    found = {part.text: _specifier(part) for part in needed}
    helps = all(found[part.text] and matcher.matches(part, found[part.text], "allow") for part in needed)
    offered = tuple(dict.fromkeys(found.values()))
    return offered if helps and len(offered) <= MOST else ()


def _specifier(part: CommandPart) -> str:
    """The specifier for one part; empty where it could only be written with a wildcard that the command does not mean."""
    if count := _telling(part.argv):
        return " ".join(part.argv[:count]) + ":*"
    return "" if "*" in part.text else part.text


def _telling(argv: Sequence[str]) -> int:
    """How many words of a command say what it does, so that whatever follows them may be granted; 0 if only all do."""
    program, first, second = (*argv, "", "")[:3]
    if program in _CHECKS:
        return 1
    if program in _TARGETS or first in _SUBCOMMANDS.get(program, "").split():
        return 2 if _WORD.fullmatch(first) else 0
    named = first in _NAMED.get(program, "").split() and _WORD.fullmatch(second)
    return 3 if named and second not in _STARTERS else 0
