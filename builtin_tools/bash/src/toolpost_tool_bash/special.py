"""Programs whose operands are a small language of their own: each checked for what is known to be harmless."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Final

from .arguments import Argument, is_plain_pattern
from .awk import awk
from .devices import disks
from .git import PROGRAMS_SET
from .parts import harmless
from .record import Effects
from .sed import sed
from .syntax import is_own_variable, words

Special = Callable[[str, list[Argument], list[Argument], Effects], None]
_UNARY = frozenset("-" + char for char in "abcdefghknprstuwxzGLNOS")
_BINARY = frozenset({"=", "==", "!=", "<", ">", "-nt", "-ot", "-ef", "-a", "-o", "!", "(", ")", "&&", "||", "=~"})
NUMERIC: Final = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_FIND_FLAGS = words("""
    -print -print0 -ls -prune -quit -depth -d -empty -o -or -a -and -not ! ( ) , -readable -writable -executable -true
    -false -daystart -follow -mount -xdev -noleaf -nouser -nogroup -ignore_readdir_race -noignore_readdir_race
""")
_FIND_VALUED = words("""
    -name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -atime -ctime
    -mmin -amin -cmin -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -lname -ilname -printf -fstype
    -used -newermt -newerat -newerct
""")
_FIND_WRITES = words("-fprint -fprint0 -fprintf -fls")
_FIND_FILES = frozenset({"-newer", "-anewer", "-cnewer", "-samefile"})
# What a format consists of beside `%n`: characters and the conversions that only print.
_FORMATS = re.compile(r"%%|%[-+ #0']*(?:\*|\d+)?(?:\.(?:\*|\d*))?[hlLjzt]*+(?:\([^)]*\)T|[a-mo-zA-Z])|[^%]+")
_SET_NAMES = words("pipefail errexit nounset xtrace")
_FIND_ALTERNATIVES = frozenset({"-o", "-or", "!", "-not", ",", "("})
_TAR_EXTRACTS = ("--extract", "--get")
FIND_RUNS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FIND_ACTS = FIND_RUNS | {"-delete", "-print", "-print0", "-printf", "-fprint", "-fprint0", "-fprintf", "-ls", "-fls"}
_JQ_UNSAFE = re.compile(r"\b(import|include|env|input_filename|get_search_list|debug|stderr)\b|\$ENV|\$__")


def _nothing(_name: str, _positional: list[Argument], _args: list[Argument], _effects: Effects) -> None:
    return


def _refuse(name: str, _positional: list[Argument], _args: list[Argument], effects: Effects) -> None:
    effects.refuse(f"{name} may run another program")


def _jq(name: str, positional: list[Argument], _args: list[Argument], effects: Effects) -> None:
    if not positional or not positional[0].known or _JQ_UNSAFE.search(positional[0].text):
        effects.refuse(f"the filter of {name} may read more than its files")


def check_test(words: list[Argument], effects: Effects) -> None:
    """Check the words of `test`, `[` or `[[`: some operators evaluate what stands in their operands."""
    known = _UNARY | _BINARY | NUMERIC
    for at, word in enumerate(words):
        before = words[at - 1] if at else None
        if word.splits or (not word.known and before is not None and not before.known):
            effects.refuse("the words of a test are only known once it runs")
        elif word.known and word.text.startswith("-") and not word.text[1:].isdigit() and word.text not in known:
            effects.refuse(f"the test {word.text} may evaluate its operand")
        if word.known and ("[" in word.text[:-1] or "`" in word.text or "$" in word.text) and len(word.text) > 2:
            effects.refuse("an operand of a test could be evaluated")


def _test(name: str, positional: list[Argument], _args: list[Argument], effects: Effects) -> None:
    if name == "[":
        if not positional or positional[-1].text != "]":
            effects.refuse("the test has no closing bracket")
        positional = positional[:-1]
    check_test(positional, effects)


def _printf(name: str, positional: list[Argument], _args: list[Argument], effects: Effects) -> None:
    form = positional[0] if positional else Argument("")
    # `%n` sets the variable that the argument names, PATH as well as any other.
    if len(positional) > 1 and (not form.plain or "%" in _FORMATS.sub("", form.text)):
        effects.refuse(f"the format of {name} may set a variable")


def _date(name: str, positional: list[Argument], _args: list[Argument], effects: Effects) -> None:
    if any(not arg.known or not arg.text.startswith("+") for arg in positional):
        effects.refuse(f"{name} with such an operand sets the clock")


def _process_flags(name: str, positional: list[Argument], _args: list[Argument], effects: Effects) -> None:
    if any(not arg.plain or not re.fullmatch(r"[afjlmruvwxTU]+|\d+", arg.text) for arg in positional):
        effects.refuse(f"{name} with such letters may show the environment of programs")


def _find(_name: str, positional: list[Argument], _args: list[Argument], effects: Effects) -> None:
    at = 0
    while at < len(positional) and positional[at].text in ("-L", "-H", "-P"):
        at += 1
    while at < len(positional) and not (positional[at].known and positional[at].text[:1] in ("-", "(", "!", ")", ",")):
        if positional[at].may_be_option:
            effects.refuse("a starting point of find may turn out to be an expression")
        effects.files.append(("list", positional[at]))
        at += 1
    if all(arg.splits and not arg.known for kind, arg in effects.files if kind == "list"):
        effects.files.append(("list", Argument(".")))  # none, or they may come to nothing
    starts = [arg for kind, arg in effects.files if kind == "list"]
    if any(arg.text in ("-L", "-follow") for arg in positional):
        effects.files.extend(("reach", start) for start in starts)
    while at < len(positional):
        arg = positional[at]
        following = positional[at + 1 : at + 2]
        at += 1
        if arg.plain and arg.text in _FIND_FLAGS:
            continue
        if arg.plain and arg.text in _FIND_VALUED:
            if following and following[0].splits:
                effects.refuse("a value in the expression of find may be several words")
            at += 1
        elif arg.plain and arg.text in _FIND_FILES:
            effects.files.extend(("list", value) for value in following)
            at += 1
        elif arg.plain and arg.text == "-exec" and (end := _end_of_command(positional, at)):
            effects.started.append((positional[at:end], positional[end].text == "+"))
            at = end + 1
        elif arg.plain and arg.text == "-delete":
            if name := name_of_all(positional):
                effects.sweeps.extend((start, name) for start in starts)
            else:
                effects.files.extend(("wipe", start) for start in starts)
            effects.refuse("find -delete removes what it finds")
        else:
            effects.refuse(f"{arg.source or arg.text} in the expression of find may write or run something")
            effects.files.extend(("write" if arg.text in _FIND_WRITES else "mention", value) for value in following)


def _end_of_command(expression: list[Argument], start: int) -> int:
    """Where the command ends that find is to run; 0 where that is not sure."""
    for at in range(start, len(expression)):
        if not expression[at].plain:
            return 0
        if expression[at].text == ";" or (expression[at].text == "+" and expression[at - 1].text == "{}"):
            return at
    return 0


def name_of_all(expression: list[Argument]) -> str:
    """The pattern that all has which an expression of find finds; empty where it may find other things, too."""
    texts = [arg.text for arg in expression]
    at = texts.index("-name") if "-name" in texts else len(texts)
    acts = next((n for n, text in enumerate(texts) if text in _FIND_ACTS), len(texts))
    sure = at < acts and not _FIND_ALTERNATIVES & set(texts)
    value = expression[at + 1] if sure and at + 1 < len(expression) else None
    return value.text if value is not None and is_plain_pattern(value) else ""


def _copy(name: str, positional: list[Argument], _args: list[Argument], effects: Effects) -> None:
    folder = any(kind == "write" for kind, _ in effects.files)
    sources, target = (positional, []) if folder else (positional[:-1], positional[-1:])
    deep = bool(effects.options & {"-r", "-R", "-a", "--recursive", "--archive"}) and name != "ln"
    effects.files.extend(("tree" if deep else "read", arg) for arg in sources)
    effects.files.extend(("write", arg) for arg in target)
    if name == "ln":
        effects.files.extend(("below", arg) for arg in sources)  # what goes on may change them through the link
    folders = target or [arg for kind, arg in effects.files if kind == "write"]
    for into in folders:
        for arg in sources:
            if not (into.plain and arg.plain):
                effects.files.append(("into", into))
            elif (last := arg.text.rstrip("/").rpartition("/")[2]) not in ("", ".", ".."):
                effects.files.append(("within", Argument(f"{into.text}/{last}")))
    if effects.options & {"-s", "-l", "--symbolic-link", "--link"} and name == "cp":
        effects.refuse("cp makes links")
    if deep:
        effects.files.extend(("wipe", arg) for arg in target)
        effects.copies.extend((arg, into) for into in folders for arg in sources)


def _move(name: str, positional: list[Argument], args: list[Argument], effects: Effects) -> None:
    _copy(name, positional, args, effects)
    folder = any(option in effects.options for option in ("-t", "--target-directory"))
    effects.files.extend(("wipe", arg) for arg in (positional if folder else positional[:-1]))


def _dd(name: str, _positional: list[Argument], args: list[Argument], effects: Effects) -> None:
    for arg in args:
        key, _, value = arg.text.partition("=")
        if key in ("if", "of"):
            kind = "read" if key == "if" else "write"
            effects.files.append((kind, Argument(value, arg.known, arg.wild, arg.splits)))
    effects.refuse(f"{name} writes")


def _set(name: str, positional: list[Argument], _args: list[Argument], effects: Effects) -> None:
    for before, arg in pairwise((Argument(""), *positional)):
        option = re.fullmatch(r"[-+][eux]*o?", arg.text) and len(arg.text) > 1
        named = arg.text in _SET_NAMES and before.text.startswith(("-", "+")) and before.text.endswith("o")
        if not arg.plain or not (option or named) or (arg.text[1:] == "o" and arg is positional[-1]):
            effects.refuse(f"{name} may change more than how the line ends and what is shown")
    if not positional:
        effects.refuse(f"{name} shows all variables")


def _variables(name: str, positional: list[Argument], _args: list[Argument], effects: Effects) -> None:
    if any(
        not arg.plain or not re.fullmatch(r"[a-z]\w*", arg.text) or not is_own_variable(arg.text) for arg in positional
    ):
        effects.refuse(f"{name} may set a variable that changes what follows")


def _exports(name: str, positional: list[Argument], args: list[Argument], effects: Effects) -> None:
    for arg in args:
        variable, equals, value = arg.text.partition("=")
        if (
            not arg.plain
            or not equals
            or not (harmless(variable, value) or (variable.islower() and is_own_variable(variable)))
        ):
            effects.refuse(f"{name} may set a variable that changes what follows")
    if not args:
        effects.refuse(f"{name} shows all variables")
    effects.operands = positional


def _strings(name: str, positional: list[Argument], _args: list[Argument], effects: Effects) -> None:
    effects.files.extend(("read", arg) for arg in positional)
    if any(arg.text.startswith("@") or not arg.known for arg in positional):
        effects.refuse(f"{name} may take more arguments from a file")


def _packed(name: str, positional: list[Argument], _args: list[Argument], effects: Effects) -> None:
    reads = effects.options & {"-c", "-l", "-t", "--stdout", "--to-stdout", "--list", "--test"}
    effects.files.extend(("read" if reads else "write", arg) for arg in positional if arg.text != "-")
    if not reads:
        effects.refuse(f"{name} puts a file in the place of another")


def _listed(name: str, positional: list[Argument], args: list[Argument], effects: Effects) -> None:
    effects.files.extend(("read", arg) for arg in positional[:1])
    if not effects.options & {"-l", "-v", "-Z"}:
        effects.refuse(f"{name} writes files")
        effects.files.extend(("into", folder) for before, folder in pairwise(args) if before.text == "-d")


def _lists_archive(args: list[Argument], effects: Effects) -> bool:
    """Take `tar -t -f FILE` and `tar --list --file=FILE`; false where anything else is there."""
    texts = [arg.text for arg in args]
    named = next((arg for before, arg in pairwise((Argument(""), *args)) if before.text in ("-f", "--file")), None)
    if named is None:
        named = next((arg._replace(text=arg.text[7:]) for arg in args if arg.text.startswith("--file=")), None)
    lists = any(text in ("-t", "--list") for text in texts)
    others = {"-t", "--list", "-f", "--file", "-v", "--verbose", "-z", "-j", "-J", "--gzip", "--bzip2", "--xz"}
    known = all(arg.plain and (arg is named or arg.text in others or arg.text.startswith("--file=")) for arg in args)
    if named is None or not lists or not known or not named.text or ":" in named.text or named.text.startswith("-"):
        return False
    effects.files.append(("read", named))
    return True


def _tar(name: str, _positional: list[Argument], args: list[Argument], effects: Effects) -> None:
    """Only `tar tf FILE`, with the letters in any order and `f` as the last: the long forms run and write too much."""
    if _lists_archive(args, effects):
        return
    letters = re.fullmatch(r"-?(?=\w*t)[tvzjJ]+f", args[0].text) if args and args[0].plain else None
    if letters and len(args) > 1 and args[1].plain and ":" not in args[1].text:
        effects.files.append(("read", args[1]))
        if all(arg.plain and not arg.text.startswith("-") for arg in args[2:]):
            return
    effects.refuse(f"{name} may write files or run a program")
    bundles = [arg.text for at, arg in enumerate(args) if not at or re.fullmatch(r"-\w+", arg.text)]
    extracts = any("x" in bundle for bundle in bundles) or any(arg.text in _TAR_EXTRACTS for arg in args)
    for before, arg in pairwise((Argument(""), *args)):
        into = extracts and (before.text in ("-C", "--directory") or arg.text.startswith("--directory="))
        effects.files.append(("into" if into else "mention", arg._replace(text=arg.text.removeprefix("--directory="))))
        if not extracts and not arg.text.startswith("-"):
            effects.files.append(("archived", arg))


def _listing(name: str, positional: list[Argument], _args: list[Argument], effects: Effects) -> None:
    lists = {"--list", "-l", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"}
    if positional and not effects.options & lists:
        effects.refuse(f"{name} with a name makes one")


def _client(name: str, positional: list[Argument], _args: list[Argument], effects: Effects) -> None:
    if positional or "--client" not in effects.options:
        effects.refuse(f"{name} without --client asks the server")


def _words(allowed: dict[str, int]) -> Special:
    def check(name: str, positional: list[Argument], _args: list[Argument], effects: Effects) -> None:
        first = positional[0] if positional else Argument("")
        if not first.plain or first.text not in allowed or allowed[first.text] < len(positional) - 1:
            effects.refuse(f"{name} {first.text} may change something")

    return check


def _config(name: str, positional: list[Argument], _args: list[Argument], effects: Effects) -> None:
    asks = effects.options & {"--get", "--get-all", "--get-regexp", "--list", "-l", "--get-urlmatch"}
    verb = not asks and len(positional) == 1 and "." not in positional[0].text and positional[0].text != "list"
    if any(not arg.plain for arg in positional) or len(positional) > (2 if asks else 1) or verb:
        effects.refuse(f"{name} may set a value")
        if not asks and any(PROGRAMS_SET.match(arg.text) for arg in positional[:-1]):
            # What runs from now on is written where git looks for it.
            effects.files.append(("write", Argument(".git/config")))


SPECIAL: Final[dict[str, Special]] = {
    "pattern": _nothing,
    "jq": _jq,
    "test": _test,
    "printf": _printf,
    "date": _date,
    "psflags": _process_flags,
    "find": _find,
    "sed": sed,
    "awk": awk,
    "cd": _nothing,
    "copy": _copy,
    "move": _move,
    "dd": _dd,
    "disks": disks,
    "none": _refuse,
    "listing": _listing,
    "contexts": _words({"": 0, "ls": 0, "show": 0}),
    "kubeconfig": _words({"current-context": 0, "get-contexts": 1, "get-clusters": 0}),
    "client": _client,
    "remote": _words({"": 0, "get-url": 2}),
    "stash": _words({"list": 0, "show": 1}),
    "worktree": _words({"list": 1}),
    "config": _config,
    "reflog": _words({"": 0, "show": 1}),
    "set": _set,
    "variables": _variables,
    "exports": _exports,
    "strings": _strings,
    "packed": _packed,
    "listed": _listed,
    "tar": _tar,
}
