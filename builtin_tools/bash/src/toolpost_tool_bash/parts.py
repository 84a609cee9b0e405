"""What a command line would do, part by part, and how a rule's specifier is held against one part."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from toolpost.permissions import CommandPart

from .arguments import Argument
from .syntax import words

if TYPE_CHECKING:
    from toolpost.permissions import Behavior

SAFE_VARIABLES: Final = words("""
    LANG LANGUAGE LC_ALL LC_CTYPE LC_COLLATE LC_NUMERIC LC_TIME LC_MESSAGES LC_MONETARY TZ TERM COLUMNS LINES NO_COLOR
    FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLORTERM CI NODE_ENV RAILS_ENV RACK_ENV APP_ENV GO111MODULE GOOS GOARCH
    CGO_ENABLED RUST_BACKTRACE RUST_LOG PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8
    PYTHONHASHSEED DEBUG VERBOSE POSIXLY_CORRECT BLOCKSIZE BLOCK_SIZE TIME_STYLE QUOTING_STYLE DO_NOT_TRACK
""")
"""Variables that, set in front of a command, only change how it shows things."""

_GIT_VALUED = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path", "--super-prefix"}
)


@dataclass(frozen=True)
class BashPart(CommandPart):
    """One program that the line would start, or the files that a redirection opens.

    `args` keeps what is unknown about the arguments. `around` are the wrappers' own command lines, `inside` what a
    guarded wrapper would start. `exact` says that no rule with a wildcard allows it; `barred` that no rule does, with
    the reason; `dynamic` that it may run anything.
    """

    args: tuple[Argument, ...] = ()
    around: tuple[tuple[Argument, ...], ...] = ()
    inside: tuple[tuple[bool, BashPart], ...] = ()
    exact: bool = False
    barred: str = ""
    dynamic: bool = False


def matches(part: CommandPart, specifier: str, behavior: Behavior) -> bool:
    """Whether `Bash(specifier)` covers the part.

    Allow wants every argument to be known to fit. Deny finds the program by its last path component, behind git's global
    options, wrappers and assignments. Ask also takes what may fit once the unknown words are known.
    """
    if not isinstance(part, BashPart):
        return False
    pattern = _pattern(specifier)
    if behavior == "allow":
        if part.barred or not part.args:
            return False
        if part.exact:
            return "*" not in specifier and any(
                _fits(vector, pattern, maybe=False) for vector in (part.args, *part.around)
            )
        # A wrapper's own rule grants what is inside only if it names the wrapper.
        around = [vector for vector in part.around if pattern and vector[0].text == pattern[0]]
        return any(_fits(vector, pattern, maybe=False) for vector in (part.args, *around))
    maybe = behavior == "ask"
    if maybe and part.dynamic:
        return True
    for vector in (part.args, *part.around):
        if vector and any(_fits(form, pattern, maybe=maybe) for form in _forms(vector)):
            return True
    return any((certain or maybe) and matches(inner, specifier, behavior) for certain, inner in part.inside)


def _pattern(specifier: str) -> list[str]:
    """Split a specifier into one pattern an argument; `:*` at the end is ` *`."""
    text = specifier.strip()
    if text.endswith(":*"):
        text = text[:-2] + " *"
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _forms(vector: Sequence[Argument]) -> list[Sequence[Argument]]:
    """The spellings of one command that a deny rule must see: by path or name, with or without global options."""
    first = vector[0]
    forms = [vector]
    if first.known and "/" in first.text:
        forms.append([Argument(first.text.rstrip("/").rpartition("/")[2]), *vector[1:]])
    if forms[-1][0].text == "git":
        at = 1
        while at < len(vector) and vector[at].text.startswith("-"):
            at += 2 if vector[at].text in _GIT_VALUED else 1
        forms.append([Argument("git"), *vector[at:]])
    return forms


def _fits(vector: Sequence[Argument], pattern: list[str], *, maybe: bool) -> bool:
    """Match arguments to patterns; a lone `*` takes any number of them, a last `x*` also all that follow."""
    if not pattern:
        return False
    # reach: the numbers of patterns that can have been used up so far.
    reach = _closure({0}, pattern)
    last = len(pattern) - 1
    for arg in vector:
        following: set[int] = set()
        for at in reach:
            if at <= last and pattern[at] == "*":
                following.add(at)
            elif at <= last and _one(arg, pattern[at], maybe=maybe):
                following.add(at + 1)
            if at == last + 1 and pattern[last].endswith("*"):
                following.add(at)
            if maybe and arg.splits:
                following.update(range(at, last + 2))
        reach = _closure(following, pattern)
        if not reach:
            return False
    return last + 1 in reach


def _closure(reach: set[int], pattern: list[str]) -> set[int]:
    for at in sorted(reach):
        while at < len(pattern) and pattern[at] == "*":
            at += 1
            reach = reach | {at}
    return reach


def _one(arg: Argument, pattern: str, *, maybe: bool) -> bool:
    if not arg.known or arg.wild:
        return maybe and (arg.wild or "*" in pattern or pattern.startswith(arg.text))
    if "*" not in pattern:
        return arg.text == pattern
    return re.fullmatch(".*".join(re.escape(piece) for piece in pattern.split("*")), arg.text, re.DOTALL) is not None
