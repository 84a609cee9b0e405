"""Works out what one program with these arguments would read and write, from its row of the table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from . import devices, git
from .arguments import Argument, Found, is_plain_pattern
from .carriers import literals, names_in_code
from .options import operands_of, row_of
from .parts import WITH_OPTIONS
from .pathspecs import NAMES_ONLY
from .record import Effects
from .special import SPECIAL, name_of_all
from .syntax import words
from .table import GIT, LINKING, PROGRAMS, SUBCOMMANDS, VERSION_FLAGS, VERSION_ONLY

_ONLY_READ = frozenset({"found", "read", "list", "tree", "text", "pattern", "any", "pair"})
_ONLY_PRINT = frozenset({"echo", ":", "true", "false"})
_CHANGED = ("write*", "wipe*")
_CHANGE_MODES = words("chmod chown chgrp")
_SIGNATURE = re.compile(r"%G|%\((?:contents:)?signature")
_INSTEAD_OF_PATTERN = frozenset({"-e", "-f", "--regexp", "--file", "--files", "--type-list"})
# The options with which what lists a folder follows the links below it.
_REACHING = {
    "ls": frozenset({"-L", "-H"}),
    "tree": frozenset({"-l"}),
    "fd": frozenset({"-L", "--follow"}),
    "du": frozenset({"-L"}),
}
_OUTPUT = re.compile(
    r"-[oO](?![\w-]*=)|--(?:out(?:put)?(?:-?(?:file|dir|directory|document))?|directory-prefix)(?:(=)|$)"
)
# The options by which a search keeps to some names, and those that mix with them in another way.
_KEEPS_TO = {
    "rg": (words("-g --glob"), words("--iglob")),
    **dict.fromkeys(("grep", "egrep", "fgrep"), (words("--include"), words("--exclude --exclude-from"))),
}
_MAKES_FILE_SYSTEM = re.compile(r"mkfs\.\w+$|mke2fs$|mkdosfs$|mkswap$")
_FROM_INPUT = re.compile(r"--(?:stdin|batch|pathspec-from-file)")


def effects_of(name: str, args: list[Argument]) -> Effects:
    """What the program does; one without a row is refused, and `may_open` says what it is told of."""
    if len(args) == 1 and args[0].plain and args[0].text in _version_flags(name):
        return Effects()
    if name == "git":
        return _git(args)
    if name in SUBCOMMANDS and args and args[0].plain and (row := SUBCOMMANDS[name].get(args[0].text)):
        return _read_row(f"{name} {args[0].text}", args[1:], row)
    name = "mkfs" if name.startswith("mk") and _MAKES_FILE_SYSTEM.match(name) else name
    row = PROGRAMS.get(name) or LINKING.get(name) or ("| disks" if name in devices.PROGRAMS else None)
    if row is None:
        return Effects(why=f"{name} is not a program that is known to only read", known=False)
    effects = _read_row(name, args, row)
    if name in LINKING:
        effects.files += _in_code(name, args)
        if not effects.operands:
            effects.files.append(("perhaps", Argument(".")))  # what it reads names the files that are here
    if name in LINKING or name in devices.PROGRAMS:
        effects.refuse(f"{name} does more than change the files that it names")
    return effects


def may_open(name: str, args: list[Argument]) -> list[tuple[str, Argument]]:
    """The files by kind that a program without a row may open: each argument, each literal in code, and what it writes."""
    given = [("name" if name in WITH_OPTIONS and arg.text.isalnum() else "mention", arg) for arg in args]
    literal = [("name" if text.isalnum() else "mention", Argument(text)) for text in literals(name, args)]
    return [*given, *literal, *(("write", arg) for arg in _outputs(args)), *_in_code(name, args)]


def _in_code(name: str, args: list[Argument]) -> list[tuple[str, Argument]]:
    """Whatever in a program's own language may be the name of a file."""
    return [("perhaps", Argument(word)) for word in names_in_code(name, (arg.text for arg in args))]


def _outputs(args: list[Argument]) -> list[Argument]:
    """The files that a program which is not known is told to write, by the options that many have for that."""
    found: list[Argument] = []
    for arg, following in pairwise((*args, Argument(""))):
        match = _OUTPUT.match(arg.text) if arg.text.startswith("-") else None
        if match and (match[1] or match.end() < len(arg.text)):
            found.append(arg._replace(text=arg.text[match.end() :]))
        elif match:
            found.append(following)
    return [arg for arg in found if arg.known and arg.text not in ("", "-")]


def _version_flags(name: str) -> tuple[str, ...]:
    if name in PROGRAMS and name not in VERSION_ONLY:
        return ("--version", "--help")
    if name not in VERSION_ONLY:
        return ()
    return ("--version", *(flag for flag, names in VERSION_FLAGS.items() if name in names))


def _git(args: list[Argument]) -> Effects:
    at = 0
    while at < len(args) and args[at].plain and args[at].text in ("--no-pager", "-P", "--no-optional-locks"):
        at += 1
    if at == len(args):
        return Effects(why="git is called without a subcommand")
    sub = args[at]
    row = GIT.get(sub.text) if sub.plain else None
    rest = args[at + 1 :]
    if row is None:
        what = f"git {sub.text}" if sub.plain and not sub.text.startswith("-") else f"git's option {sub.text}"
        effects = Effects(why=f"{what} is not known to only read")
        effects.files = [("revision", arg) for arg in args[at:]]
        effects.files += [("write", arg) for arg in _outputs(rest)]
        known = git.subcommand(args[at:])
        if known == "grep":
            effects.files.append(("tree", Argument(".")))
        elif known not in GIT and not git.keeps_files(known, args):
            effects.files += [("below", arg) for arg in (args[at:] if sub.text.startswith("-") else rest)]
        return effects
    effects = _read_row("git " + sub.text, rest, row)
    if any(_SIGNATURE.search(arg.text) for arg in rest):
        effects.refuse("git runs another program to check a signature")
    if effects.why:
        effects.files += [("write", arg) for arg in _outputs(rest) if "--output" in effects.options]
        effects.files += [("below", arg) for arg in rest if sub.text == "stash"]
    named = [*effects.operands, *(rest if effects.why else ())]
    if "--no-index" in effects.options:
        effects.files.extend(("tree", arg) for arg in effects.operands)
    effects.files.extend(("name" if sub.text in NAMES_ONLY else "revision", arg) for arg in named)
    if sub.text not in NAMES_ONLY and any(_FROM_INPUT.match(arg.text) for arg in rest):
        effects.files.append(("read", Argument("", known=False, source="that git is given")))
    if sub.text == "grep":
        effects.files.append(("tree", Argument(".")))
        effects.names = _pathspecs(rest)
    return effects


def _pathspecs(args: list[Argument]) -> tuple[str, ...]:
    """The patterns behind a `--` that git keeps to, where they are of how names end."""
    at = next((at for at, arg in enumerate(args) if arg.plain and arg.text == "--"), len(args))
    specs = args[at + 1 :]
    return tuple(arg.text for arg in specs) if all(map(git.ends_names, specs)) else ()


def _read_row(name: str, args: list[Argument], row: str) -> Effects:
    read = row_of(row)
    effects = Effects()
    if name in _ONLY_PRINT:
        return effects
    positional = operands_of(name, args, read, effects)
    effects.operands = positional
    kinds = read.kinds
    special = SPECIAL.get(kinds[0]) if kinds else None
    if special:
        if kinds[0] not in ("pattern", "jq") and any(arg.found for arg in args):
            effects.refuse(f"what {name} does with files that are found is not known")
        special(name, positional, args, effects)
        for command, several in effects.started:
            _start(command, positional, effects, several=several)
        if kinds[0] in ("pattern", "jq"):
            given = effects.options & _INSTEAD_OF_PATTERN and kinds[0] == "pattern"
            if not given and any(arg.found for arg in positional[:1]):
                effects.refuse(f"what {name} looks for is not known")
            positional = positional[0 if given else 1 :]
            kinds = kinds[1:]
        else:
            kinds = ["any*"]
    if "--reference" in effects.options and kinds[:1] == ["text"]:
        kinds = kinds[1:]
    _assign_kinds(name, positional, kinds, effects)
    if name in _CHANGE_MODES and effects.options & {"-R", "--recursive"}:
        effects.files += [("below", arg) for arg in positional]
    if effects.why:
        effects.files.extend(("mention", arg) for arg in args)
    return effects


def _start(command: list[Argument], expression: list[Argument], effects: Effects, *, several: bool) -> None:
    """Note what find opens by a command that it runs on what it finds, where that only reads."""
    starts = tuple(arg for kind, arg in effects.files if kind == "list") or (Argument("."),)
    names = name_of_all(expression)
    found = Argument("", False, splits=several, source="what find finds", found=Found(starts, split=False, names=names))
    args = [found if word.text == "{}" else word for word in command]
    name = command[0].text if command else ""
    inner = effects_of(name, args[1:]) if name in PROGRAMS and not any("{}" in arg.text for arg in args) else None
    if inner is None or inner.why or inner.started or any(kind not in _ONLY_READ for kind, _ in inner.files):
        effects.refuse(f"{name} may write or run something for what find finds")
        given = (found,) if any("{}" in word.text for word in command) else ()
        effects.files.extend(("mention", value) for value in (*command, *given))
    else:
        effects.files.extend(inner.files)


def _names(name: str, given: Sequence[tuple[str, Argument]]) -> tuple[str, ...]:
    """The patterns of names that a search keeps to; none where it looks at others, too, or that is not sure."""
    options, others = _KEEPS_TO[name]
    values = [value for option, value in given if option in options and not value.text.startswith("!")]
    mixed = any(option in others for option, _ in given)
    return (
        () if mixed or not all(is_plain_pattern(value) for value in values) else tuple(value.text for value in values)
    )


def _assign_kinds(name: str, positional: list[Argument], kinds: list[str], effects: Effects) -> None:
    deep = _goes_deep(name, effects.options)
    for at, arg in enumerate(positional):
        if at < len(kinds):
            kind = kinds[at].rstrip("*")
        elif kinds and kinds[-1].endswith("*"):
            kind = kinds[-1][:-1]
        else:
            effects.refuse(f"{name} with so many operands may write")
            kind = "write"
        if arg.found and arg.splits and not (kinds and kinds[min(at, len(kinds) - 1)].endswith("*")):
            effects.refuse(f"{name} with several files may write")
        if arg.found and kind in ("read", "tree", "list"):
            effects.files.append(("found", arg))
        if kind == "any" or (kind == "read" and arg.plain and arg.text == "-"):
            continue
        effects.files.append((deep if deep and kind in ("read", "tree", "list") else kind, arg))
    if not positional and kinds and kinds[0] in _CHANGED and name != "tee":
        effects.refuse(f"{name} is called without a file")
    if deep == "tree" and effects.given and name in _KEEPS_TO:
        effects.names = _names(name, effects.given)
    # Behind an option that is not known, what looks like a file may be what is looked for.
    if deep and name != "diff" and (effects.why or not any(kind == deep for kind, _ in effects.files)):
        effects.files.append((deep, Argument(".")))


def _goes_deep(name: str, options: set[str]) -> str:
    """How the files below a folder are read, if they are: `tree`, or `follow` where links are followed, too."""
    if name in ("rg", "ag", "ack", "rgrep", "ugrep"):
        return "follow" if options & {"-L", "--follow"} else "tree"
    if options & _REACHING.get(name, frozenset()) and (name != "ls" or options & {"-R", "--recursive"}):
        return "reach"
    if name in ("grep", "egrep", "fgrep"):
        follows = options & {"-R", "--dereference-recursive"}
        return "follow" if follows else "tree" if options & {"-r", "--recursive"} else ""
    return "follow" if name == "diff" and options & {"-r", "--recursive"} else ""
