"""What a command line would do, part by part, and how a rule's specifier is held against one part."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
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
    PYTHONHASHSEED DEBUG VERBOSE BLOCKSIZE BLOCK_SIZE TIME_STYLE QUOTING_STYLE DO_NOT_TRACK
    GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS PIP_DISABLE_PIP_VERSION_CHECK HOMEBREW_NO_AUTO_UPDATE
""")
"""Variables that, set in front of a command, only change how it shows things."""

_TIME_ZONE: Final = re.compile(r"['\"]?[A-Za-z]+(?:/\w[\w+-]*)+['\"]?")
_PAGERS = words("PAGER GIT_PAGER MANPAGER GH_PAGER SYSTEMD_PAGER")

_GIT_VALUED = frozenset(
    {
        "-C",
        "-c",
        "--git-dir",
        "--work-tree",
        "--namespace",
        "--config-env",
        "--exec-path",
        "--super-prefix",
        "--attr-source",
        "--shallow-file",
    }
)
WITH_OPTIONS: Final = words("""
    npm pnpm yarn bun docker podman kubectl helm terraform tofu cargo pip pip3 uv poetry gh aws gcloud az systemctl apt
    apt-get dnf yum brew composer bundle gem dotnet flyctl heroku vercel netlify
""")
"""Programs with options in front of their subcommands, other than git."""


@dataclass(frozen=True)
class BashPart(CommandPart):
    """One program that the line would start, or the files that a redirection opens.

    `args` keeps what is unknown about the arguments. `around` are the wrappers' own command lines, `inside` what a
    guarded wrapper would start. `exact` says that no rule with a wildcard allows it; `barred` that no rule does, with
    the reason; `dynamic` that it may run anything; `lost` that where its relative paths lead is not known.
    """

    args: tuple[Argument, ...] = ()
    around: tuple[tuple[Argument, ...], ...] = ()
    inside: tuple[tuple[bool, BashPart], ...] = ()
    exact: bool = False
    barred: str = ""
    dynamic: bool = False
    lost: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the files that it opens can't be told from its own arguments alone."""
        unclear = self.dynamic or self.exact or self.lost or bool(self.barred)
        return bool(self.doubt) and (unclear or any(not arg.known for arg in self.args))


def harmless(name: str, value: str) -> bool:
    """Whether a variable with this value, set in front of a command, only changes how it shows things."""
    if "/" in value and (name.startswith("L") or name in ("TERM", "TZ")) and not _TIME_ZONE.fullmatch(value):
        return False  # a path, from which text and layout would be read
    return name in SAFE_VARIABLES or (name in _PAGERS and value in ("cat", "''", '""', ""))


def with_heads(part: BashPart) -> BashPart:
    """Return a part with its heads; `dataclasses.replace` would take several times as long, for each of many parts."""
    made = object.__new__(BashPart)
    vars(made).update(vars(part), heads=heads_of(part))
    return made


def heads_of(part: BashPart) -> frozenset[str] | None:
    """The first words of the specifiers that may cover a part; None where it may run anything."""
    if part.args and not (part.dynamic or part.around or part.inside) and part.args[0].plain:
        return _heads(part.args[0].text)
    found: set[str] = set()
    for vector in (part.args, *part.around):
        if part.dynamic or (vector and not vector[0].plain):
            return None
        if vector:
            found.update(form[0].text for form in _forms(vector))
    for _, inner in part.inside:
        more = heads_of(inner)
        if more is None:
            return None
        found |= more
    return frozenset(found)


@lru_cache(maxsize=256)
def _heads(program: str) -> frozenset[str]:
    return frozenset(form[0].text for form in _forms((Argument(program),)))


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
        forms = _forms(vector) if vector else []
        if any(_fits(form, pattern, maybe=maybe) or _fits_in_any_order(form, pattern) for form in forms):
            return True
    return any((certain or maybe) and matches(inner, specifier, behavior) for certain, inner in part.inside)


@lru_cache(maxsize=1024)
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
    program = forms[-1][0]
    if program.text == "git":
        forms.append([program, *_behind_options(vector, lambda text: text in _GIT_VALUED)])
    elif program.text in WITH_OPTIONS:
        # Which of their options take the next word is not known: a subcommand counts in either case.
        forms.extend([program, *_behind_options(vector, valued)] for valued in (_never, _unless_joined))
    return forms


def _behind_options(vector: Sequence[Argument], valued: Callable[[str], bool]) -> Sequence[Argument]:
    at = 1
    while at < len(vector) and vector[at].text.startswith("-"):
        at += 2 if valued(vector[at].text) else 1
    return vector[at:]


def _never(_option: str) -> bool:
    return False


def _unless_joined(option: str) -> bool:
    return "=" not in option


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


def _fits_in_any_order(vector: Sequence[Argument], pattern: list[str]) -> bool:
    """Whether a prefix with options covers a command that has the same options elsewhere, or in other bundles."""
    options = _options(pattern[1:-1])
    if not options or pattern[-1] != "*" or vector[0].text != pattern[0]:
        return False
    words = [word for word in pattern[1:-1] if not word.startswith("-")]
    given = [arg.text for arg in vector[1:] if arg.known]
    return [text for text in given if not text.startswith("-")][: len(words)] == words and options <= _options(given)


def _options(texts: Sequence[str]) -> set[str]:
    """Long options without their values, and short ones one by one."""
    found: set[str] = set()
    for text in takewhile(lambda text: text != "--", texts):
        if text.startswith("--"):
            found.add(text.partition("=")[0])
        elif text.startswith("-") and "*" not in text:
            found.update("-" + char for char in text[1:])
    return found


def _closure(reach: set[int], pattern: list[str]) -> set[int]:
    for at in sorted(reach):
        while at < len(pattern) and pattern[at] == "*":
            at += 1
            reach = reach | {at}
    return reach


def _names(text: str) -> tuple[str, str]:
    """A word, and its last component: a program may be named by its path."""
    return text, text.rpartition("/")[2]


@lru_cache(maxsize=256)
def _globbed(text: str) -> re.Pattern[str]:
    """What a word with wildcards may come to, where brackets match at least what they say."""
    pieces = re.split(r"(\*|\?|\[.+\])", text, flags=re.DOTALL)
    return re.compile(
        "".join(".*" if piece[:1] in ("*", "?", "[") else re.escape(piece) for piece in pieces), re.DOTALL
    )


def _one(arg: Argument, pattern: str, *, maybe: bool) -> bool:
    if arg.known and arg.wild:
        return maybe and ("*" in pattern or any(_globbed(text).fullmatch(pattern) for text in _names(arg.text)))
    if not arg.known:
        return maybe and (arg.wild or "*" in pattern or pattern.startswith(arg.text))
    if "*" not in pattern:
        return arg.text == pattern
    return re.fullmatch(".*".join(re.escape(piece) for piece in pattern.split("*")), arg.text, re.DOTALL) is not None
