"""Programs that start other programs: what is inside, and whether an allow rule may look through them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, takewhile
from typing import Final

from . import git
from .arguments import Argument, Found
from .carriers import speaks, told
from .special import FIND_RUNS
from .syntax import words

TRANSPARENT: Final[dict[str, tuple[str, int]]] = {
    "timeout": ("k=s= --kill-after= --signal= --preserve-status --foreground v --verbose", 1),
    "nice": ("n= --adjustment= #", 0),
    "nohup": ("", 0),
    "stdbuf": ("i= o= e= --input= --output= --error=", 0),
    "command": ("p", 0),
    "builtin": ("", 0),
    "noglob": ("", 0),
    "exec": ("", 0),
    "env": ("i --ignore-environment", 0),
    "xargs": ("0 r t n= L= P= d= s= I= --null --no-run-if-empty --max-args= --max-procs= --delimiter= --replace=", 0),
}
"""Wrappers that change nothing about what runs, with the options that keep it so and the number of their operands."""

GUARDED: Final = words("""
    builtin noglob sudo doas su runuser pkexec gosu su-exec watch setsid ionice flock taskset chrt unshare nsenter chroot
    script parallel ssh strace ltrace gdb valgrind busybox toybox cmd.exe setarch linux32 linux64 prlimit cpulimit unbuffer
    systemd-run screen tmux caffeinate dbus-run-session xvfb-run firejail proot fakeroot find fd rg time at batch entr
    expect daemonize start-stop-daemon env xargs timeout nice stdbuf nohup exec command trap alias runcon capsh bwrap
    concurrently sg newgrp run-one chronic catchsegv
    torsocks proxychains proxychains4 numactl setpriv cgexec chpst softlimit envdir ssh-agent rlwrap perf
    hyperfine retry
""")
"""Wrappers whose inside a deny rule sees, but which no prefix rule allows."""

RUNNERS: Final = GUARDED - words(
    "find fd rg trap alias at batch tmux screen expect gdb start-stop-daemon ssh-agent perf"
)
"""Those of them that start what follows their options."""

SHELLS: Final = frozenset({"bash", "sh", "dash", "zsh", "ksh", "ash", "rbash", "mksh", "yash", "fish", "csh", "tcsh"})
OPAQUE: Final = words("""
    source . mapfile readarray compgen complete enable bind hash fc history shopt set let unset read declare typeset
    local export readonly getopts pushd popd dirs alias unalias trap exit return kill ulimit umask disown fg bg jobs
""")
"""Builtins that change the shell itself or evaluate their operands."""

EVALUATES: Final = OPAQUE | {"printf", "test", "[", "wait", "eval"}
_RUNNER_VERBS = frozenset(
    {"exec", "run", "x", "dlx", "do", "with", "--", "-c", "-e", "-x", "--exec", "--command", "-exec"}
)
_PLAIN_SHELL_OPTION = re.compile(r"[-+][ceufxvn]+|--|--norc|--noprofile")
_SCRIPT_OPTION = re.compile(r"-[A-Za-z]*?[cSx]|-e|--(?:split-string|command|exec|init-command|call|run)=?")
_XARGS_VALUED = frozenset({"-I", "-n", "-L", "-P", "-s", "-d", "-a", "-E", "-j"})
_TOLD: Final = re.compile(r"\s|[;&|`$(]")
_ASSIGNED_COMMAND = re.compile(r"=!?(.+)", re.DOTALL)


@dataclass(frozen=True)
class Inside:
    """What a wrapper would start.

    `command` is the command behind a transparent wrapper, `assigned` the variables that are set for it. `scripts` are
    texts that a shell would read, `possible` those that one may. `suffixes` are the tails of the arguments that could be
    a command, each with whether it surely is one, and `tails` says that any of its tails could be. `open` says that it
    runs what the line does not show.
    """

    command: tuple[Argument, ...] = ()
    assigned: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    possible: tuple[str, ...] = ()
    suffixes: tuple[tuple[bool, tuple[Argument, ...]], ...] = ()
    tails: bool = False
    open: bool = False


@cache
def _options(row: str) -> tuple[frozenset[str], frozenset[str]]:
    """The options of a row that have a value, and those that have none."""
    return (
        frozenset(re.findall(r"(--[\w-]+|\w)=", row)),
        frozenset(re.findall(r"(--[\w-]+|[a-z0#])(?![=\w-])", row)),
    )


def transparent(name: str, args: list[Argument], found: Found | None = None) -> Inside | None:
    """Look through a wrapper that changes nothing; None where the name or one of its options is not such.

    `found` are the files whose names it gets on its standard input.
    """
    row = TRANSPARENT.get(name)
    if row is None:
        return None
    options, operands = row
    valued, flags = _options(options)
    at = 0
    while at < len(args) and args[at].text.startswith("-") and len(args[at].text) > 1:
        text = args[at].text
        if not args[at].plain:
            return None
        at += 1
        if text == "--":
            break
        number = text[1:].isdigit() or text.lstrip("-").isdigit()
        name_of = text.partition("=")[0] if text.startswith("--") else text[1]
        if "#" in flags and number:
            continue
        if name_of in valued:
            apart = text in (name_of, "-" + name_of)
            # A value that may be several words may bring another program.
            if apart and any(arg.splits for arg in args[at : at + 1]):
                return None
            at += apart
        elif name_of not in flags or (len(text) > 2 and not text.startswith("--")):
            return None
    assigned: list[str] = []
    while name == "env" and at < len(args) and "=" in args[at].text:
        assigned.append(args[at].text)
        at += 1
    if not all(arg.plain for arg in args[at : at + operands]):
        return None
    command = args[at + operands :]
    if not command and name == "xargs":
        command = [Argument("echo")]
    if not command:
        return None
    if name == "xargs":
        command = _given_by_xargs(args[:at], command, found)
    return Inside(tuple(command), tuple(assigned))


def _given_by_xargs(options: list[Argument], command: list[Argument], found: Found | None) -> list[Argument]:
    """The command that xargs makes: with what it reads at the end, or in the place of a mark."""
    mark = _filled_in("xargs", options)[0]
    texts = {option.text for option in options}
    if found is not None:
        apart = any(re.match(r"-\w*d|--delim", text) for text in texts)
        found = None if apart else found._replace(split=not texts & {"-0", "--null"})
    if not mark:
        return [*command, _given("xargs reads")._replace(found=found)]
    if found is not None:
        given = _given("xargs reads")._replace(splits=False, found=found)
        command = [given if arg.text == mark else arg for arg in command]
    return [
        arg._replace(text=arg.text.partition(mark)[0], known=False, source=arg.text)
        if mark in arg.text and arg.found is None
        else arg
        for arg in command
    ]


def _given(how: str) -> Argument:
    """What a command gets at its end that only running the line would name."""
    return Argument("", known=False, splits=True, source=f"what {how}")


def guarded(name: str, args: list[Argument], *, with_tails: bool = True) -> Inside:
    """Everything that a wrapper of ours, or a program that is not known, could start with these arguments.

    Its tails are left out where others, in which all of them stand, are looked at in any case.
    """
    sure = name in GUARDED
    scripts: list[str] = []
    suffixes: list[tuple[bool, tuple[Argument, ...]]] = []
    if name in ("find", "fd"):
        return Inside(suffixes=tuple(_find_commands(args)))
    if name == "rg":
        return Inside(suffixes=tuple(_preprocessors(args)))
    given = (_given(f"{name} reads"),) if name == "xargs" or _reads_operands(name, args) else ()
    reads_code = not sure and speaks(name)
    runs_scripts_by_name = name in ("npm", "yarn", "pnpm", "bun", "make", "just", "task")
    verb = False
    for at, arg in enumerate(args):
        verb = verb or (bool(at) and args[at - 1].text in _RUNNER_VERBS)
        if not arg.text and (arg.known or not sure):
            continue
        if not with_tails and arg.text.isalnum():
            continue  # no text for a shell
        option = _SCRIPT_OPTION.match(arg.text) if arg.text.startswith("-") else None
        after = bool(at) and args[at - 1].text.startswith("-") and bool(_SCRIPT_OPTION.fullmatch(args[at - 1].text))
        if reads_code:
            pass
        elif (sure or after or option) and _TOLD.search(arg.text):
            scripts.append(arg.text)
            if option:
                scripts.append(arg.text[option.end() :])
            if assigned := _ASSIGNED_COMMAND.search(arg.text):
                scripts.append(assigned[1])
        elif option and option.end() < len(arg.text):
            scripts.append(arg.text[option.end() :])
        if with_tails:
            suffixes.append((sure or ((at == 0 or verb) and not runs_scripts_by_name), (*args[at:], *given)))
    if name == "alias":
        scripts.extend(arg.text.partition("=")[2] for arg in args if "=" in arg.text)
    if name in ("watch", "ssh", "su", "eval", "trap", "alias"):
        scripts.extend(" ".join(arg.text for arg in args[at:]) for at in range(min(3, len(args))))
    return Inside(scripts=tuple(scripts), suffixes=tuple(suffixes), tails=True)


def _reads_operands(name: str, args: list[Argument]) -> bool:
    return name == "parallel" and not any(arg.text.startswith(":::") for arg in args)


def inside_of(name: str, args: list[Argument], text: str | None, *, known: bool, with_tails: bool) -> Inside:
    """All that a program may start, by its arguments and by the text on its standard input."""
    inside = Inside()
    if name in GUARDED or not known:
        inside = guarded(name, args, with_tails=with_tails)
    elif name == "git":
        scripts, suffixes = git.told(args)
        inside = Inside(scripts=scripts, suffixes=suffixes)
    more = told(name, args, text)
    open_ended = more.open or (name in RUNNERS and _runs_unknown(name, args))
    open_ended = open_ended or (name == "git" and git.takes_from_environment(args))
    return replace(inside, scripts=(*inside.scripts, *more.sure), possible=more.possible, open=open_ended)


def _runs_unknown(name: str, args: list[Argument]) -> bool:
    """Whether the program that a wrapper starts is only known once the line runs."""
    if name in ("xargs", "parallel"):
        mark, command = _filled_in(name, args)
        if not command:
            return name == "parallel"
        scripts = [arg.text for arg in _shell_texts(tuple(command))]
        texts = [arg.text for arg in command if re.search(r"[\s;]", arg.text)]
        return not command[0].plain or (bool(mark) and any(mark in t for t in (command[0].text, *scripts, *texts)))
    for arg in args:
        if not arg.plain:
            return True
        if not re.match(r"[-+\d]|\w+=", arg.text):
            return False
    return False


def _filled_in(name: str, args: list[Argument]) -> tuple[str, list[Argument]]:
    """The mark in a command that xargs or parallel replaces by what it reads, and the command."""
    mark, at = "{}" if name == "parallel" else "", 0
    while at < len(args) and args[at].text.startswith("-") and args[at].plain:
        text = args[at].text
        at += 1
        if text in _XARGS_VALUED and at < len(args):
            mark = args[at].text if text == "-I" else mark
            at += 1
        elif match := re.match(r"(?:-I|-i|--replace=?)(.*)", text):
            mark = match[1] or "{}"
    return mark, args[at:]


def shell_script(args: list[Argument]) -> Argument | None:
    """The text after `-c` of a shell; None where it reads its commands elsewhere."""
    for at, arg in enumerate(args):
        if not arg.text.startswith(("-", "+")) or arg.text == "-":
            return None
        if re.fullmatch(r"-[a-z]*c[a-z]*", arg.text):
            option = re.compile(r"[-+][A-Za-z]+|--")
            rest = [other for other in args[at + 1 :] if not (other.known and option.fullmatch(other.text))]
            return rest[0] if rest else None
        if arg.text in ("-O", "-o", "+O", "+o", "--rcfile", "--init-file"):
            return shell_script(args[at + 2 :])
    return None


def plain_shell(name: str, args: list[Argument]) -> bool:
    """Whether a shell that is called so reads no file of its own before it runs the text that it is given."""
    if name not in ("sh", "bash", "dash"):
        return False
    options = list(takewhile(lambda arg: arg.text.startswith(("-", "+")), args))
    return all(arg.plain and _PLAIN_SHELL_OPTION.fullmatch(arg.text) for arg in options)


def _find_commands(args: list[Argument]) -> list[tuple[bool, tuple[Argument, ...]]]:
    found: list[tuple[bool, tuple[Argument, ...]]] = []
    for at, arg in enumerate(args):
        if arg.text in FIND_RUNS or arg.text in ("-x", "-X", "--exec", "--exec-batch"):
            end = next((i for i in range(at + 1, len(args)) if args[i].text in (";", "+")), len(args))
            command = tuple(_found_file(word) for word in args[at + 1 : end])
            if arg.text not in FIND_RUNS and command and all(word.known for word in command):
                command = (*command, _given("fd finds"))
            found.append((True, command))
            if any(not word.known for word in (*command[:1], *_shell_texts(command))):
                found.insert(0, (True, (Argument("", known=False, source="what find finds"), *command[1:])))
    return found


def _found_file(word: Argument) -> Argument:
    """A word of a command that find starts: the braces in it stand for what was found."""
    if not word.known or "{}" not in word.text:
        return word
    return word._replace(text=word.text.partition("{}")[0], known=False, source=word.source or word.text)


def _shell_texts(command: tuple[Argument, ...]) -> list[Argument]:
    return [word for before, word in pairwise(command) if _SCRIPT_OPTION.fullmatch(before.text)]


def _preprocessors(args: list[Argument]) -> list[tuple[bool, tuple[Argument, ...]]]:
    """The programs that a search is told to pass files through."""
    found: list[tuple[bool, tuple[Argument, ...]]] = []
    for at, arg in enumerate(args):
        option, _, value = arg.text.partition("=")
        if option in ("--pre", "--hostname-bin"):
            found.append((True, (Argument(value),) if value else tuple(args[at + 1 : at + 2])))
    return found
