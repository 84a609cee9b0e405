"""Which files a command names on its standard output, for what takes them from there as its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from . import git
from .arguments import Argument, Found, is_plain_pattern
from .effects import effects_of
from .special import name_of_all
from .syntax import Redirect, words

_SEARCHES: Final = words("grep egrep fgrep rg")
_SEARCH_OPTIONS: Final = words("""
    -l -r -R -i -w -F -E -P -e -s -I -g -t -T -Z -0 -u --files --files-with-matches --include --exclude --exclude-dir
    --hidden --type --type-not --glob --null --ignore-case --recursive --fixed-strings --word-regexp --no-ignore
""")
_FILTER_OPTIONS: Final[dict[str, frozenset[str]]] = {
    "head": words("-n -q --lines"),
    "tail": words("-n -q --lines"),
    "sort": words("-u -r -n -V -f -z --unique --reverse --version-sort --numeric-sort --zero-terminated"),
    "uniq": words("-u -d -z"),
    "tac": frozenset(),
    "grep": words("-v -i -E -F -P -w -x -z -e --invert-match --ignore-case"),
    "egrep": words("-v -i -w -x -z -e"),
    "fgrep": words("-v -i -w -x -z -e"),
}
"""Programs that, with no other options than these and no files, print some of the lines that they read."""

_NAME_OPTIONS: Final = words(
    "-z -c -m -o --cached --staged --modified --others --exclude-standard --name-only --diff-filter"
)
_HERE = Argument(".")


def goes_through(redirects: Sequence[Redirect]) -> bool:
    """Whether a command reads the pipe in front of it and writes the one behind, whatever else it is told to drop."""
    return all(redirect.op not in ("<", "<>", "<<", "<<-", "<<<", "<&", ">&") for redirect in redirects) and all(
        redirect.target.bare == "/dev/null" for redirect in redirects
    )


def printed(args: Sequence[Argument], before: Found | None) -> Found | None:
    """The files whose names a command prints; `before` are those whose names it reads. None where it prints more."""
    if not args or not args[0].plain:
        return None
    name, rest = args[0].text, list(args[1:])
    if name == "echo":
        return _echoed(rest)
    if name in _FILTER_OPTIONS and before is not None and _only_filters(name, rest):
        return before
    effects = effects_of(name, rest)
    if effects.why or effects.started:
        return None
    if name == "find":
        return _found_by_find(rest, [arg for kind, arg in effects.files if kind == "list"])
    if name == "git":
        return _listed_by_git(rest)
    if name in _SEARCHES and effects.options & {"-l", "--files-with-matches", "--files"}:
        starts = [arg for kind, arg in effects.files if kind in ("read", "tree", "follow") and arg != _HERE]
        found = _below(starts) if effects.options <= _SEARCH_OPTIONS else None
        return found._replace(names=effects.names[0]) if found is not None and len(effects.names) == 1 else found
    if name in ("fd", "fdfind"):
        return _below(effects.operands[1:])
    if name == "ls" and effects.options <= {"-1", "-t", "-r", "-S", "-d"}:
        return _listed_by_ls(effects.operands)
    return None


def _listed_by_ls(operands: Sequence[Argument]) -> Found | None:
    """Names below the folder that the command is in, of one pattern where that is all that it is given."""
    found = _below([]) if all(_is_below(arg) for arg in operands) else None
    one = operands[0] if len(operands) == 1 and operands[0].wild else None
    names = one.text if one is not None and is_plain_pattern(one._replace(wild=False)) else ""
    return found._replace(names=names) if found is not None else None


def _echoed(rest: Sequence[Argument]) -> Found | None:
    text = " ".join(arg.text for arg in rest)
    if not all(arg.plain for arg in rest) or set(text) & set("\\'\"") or not text.strip():
        return None
    names = text.split()
    return None if any(name.startswith("-") for name in names) else Found(tuple(map(Argument, names)))


def _only_filters(name: str, rest: list[Argument]) -> bool:
    effects = effects_of(name, rest)
    patterns = 1 if "grep" in name and "-e" not in effects.options else 0
    plain = all(arg.plain for arg in effects.operands)
    return not effects.why and plain and len(effects.operands) == patterns and effects.options <= _FILTER_OPTIONS[name]


def _found_by_find(expression: Sequence[Argument], starts: Sequence[Argument]) -> Found | None:
    tells_more = {"-printf", "-ls", "-L", "-H", "-follow"}
    if any(arg.text in tells_more for arg in expression):
        return None
    return Found(tuple(starts) or (_HERE,), names=name_of_all(list(expression)))


def _listed_by_git(rest: list[Argument]) -> Found | None:
    """Git lists what lies in the repository, and never a path that climbs out of the folder that it is in."""
    effects = effects_of("git", rest)
    names = rest[:1] == [Argument("ls-files", source=rest[0].source)] or "--name-only" in effects.options
    lists = names and rest[0].text in ("ls-files", "diff") and effects.options <= _NAME_OPTIONS
    found = _below([]) if lists and all(_is_below(arg) for arg in effects.operands) else None
    ends = effects.operands[0].text if len(effects.operands) == 1 and git.ends_names(effects.operands[0]) else ""
    return found._replace(names=ends) if found is not None else None


def _is_below(arg: Argument) -> bool:
    return arg.known and not arg.text.startswith(("/", ":", "-")) and ".." not in arg.text.split("/")


def _below(starts: Sequence[Argument]) -> Found | None:
    """What lies below some folders, or below the one that the command is in: those names have nothing in front of them."""
    if any(arg.may_be_option or not arg.known for arg in starts):
        return None
    return Found(tuple(starts)) if starts else Found((_HERE,), bare=True)
