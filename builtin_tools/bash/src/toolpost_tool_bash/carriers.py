"""Programs that are told what else to run in an option, in a text of their own language, or in a variable."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from .arguments import Argument
from .syntax import Script, Simple, words

OPTIONS: Final[dict[str, str]] = {
    "tar": "-I -F --use-compress-program --to-command --checkpoint-action --info-script --new-volume-script --rsh-command "
    "--rmt-command",
    "rsync": "-e --rsh --rsync-path",
    "sort": "--compress-program",
    "split": "--filter",
    "ansible": "-a --args",
    "apt": "-o --option",
    "apt-get": "-o --option",
    "pip": "--global-option --config-settings",
    "gcc": "-wrapper",
    "g++": "-wrapper",
    "cc": "-wrapper",
    "clang": "-wrapper",
    "fc": "-e -s",
    "history": "-s",
    "bind": "-x",
    "npx": "-c --call",
    "npm": "--script-shell script-shell",
    "pnpm": "--script-shell script-shell",
    "fd": "-x -X --exec --exec-batch",
    "lldb": "-o -O -s -k --one-line --one-line-before-file",
    "nc": "-e -c --exec --sh-exec",
    "ncat": "-e -c --exec --sh-exec",
    "ssh": "-o",
    "scp": "-S -o",
    "sftp": "-S -o",
    "man": "-P -H --pager --html",
    "zip": "-TT --unzip-command",
    "cpio": "--rsh-command",
    "install": "--strip-program",
    "wget": "--use-askpass",
    "tcpdump": "-z --postrotate-command",
    "nix-shell": "--run --command",
    "cargo": "-s --shell --config",
    "go": "-exec -toolexec -vettool",
    "java": "-XX:OnError -XX:OnOutOfMemoryError",
    "git": "-u --open-files-in-pager --tree-filter --index-filter --msg-filter --env-filter --commit-filter --setup "
    "--parent-filter --tag-name-filter",
    "gdb": "-ex -iex --eval-command",
    "rg": "--pre --hostname-bin",
    "gpg": "--photo-viewer",
    "nodemon": "-x --exec",
    "entr": "-s",
    "hash": "-p",
    "mapfile": "-C",
    "readarray": "-C",
    "compgen": "-C",
    "complete": "-C",
}
"""The options whose value is a program or shell text."""

SHELL_VARIABLES: Final = words("""
    EDITOR VISUAL PAGER MANPAGER GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF
    GIT_ASKPASS GIT_PROXY_COMMAND SSH_ASKPASS SUDO_EDITOR SUDO_ASKPASS SVN_SSH CVS_RSH RSYNC_RSH LESSOPEN LESSCLOSE
    BROWSER SHELL MAKESHELL PROMPT_COMMAND PS0 PS1 PS2 PS4 DELTA_PAGER BAT_PAGER SYSTEMD_PAGER GH_PAGER GH_EDITOR
    KUBE_EDITOR FCEDIT RIPGREP_CONFIG_PATH FZF_DEFAULT_COMMAND CMAKE_CXX_COMPILER_LAUNCHER RUSTC_WRAPPER
""")
"""The variables whose value is a program or shell text."""

START_FILES: Final = words("BASH_ENV ENV")
"""The variables that name a file which a shell runs when it starts."""

READS_COMMANDS: Final = words("at batch crontab")
"""Programs that take shell text on their standard input, and run it later."""

_ESCAPING = words("""
    vi vim nvim view vimdiff ex ed red less more most man gdb lldb psql mysql mariadb sqlite3 emacs nano ftp sftp
""")
_ESCAPE = re.compile(r"(?:^|[|:+\\\n])\s*(?:!|\.?(?:shell|system)\s)\s*([^|\n]+)")
_INTERPRETERS = re.compile(
    r"python[\d.]*|pypy3?|perl|ruby|node|nodejs|deno|bun|php|lua[\d.]*|luajit|Rscript|osascript|tclsh|julia|guile|swift"
    r"|groovy|scala|emacs|awk|gawk|mawk|nawk|ipython3?|puppet|m4"
)
_LITERAL = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|`((?:[^`\\]|\\.)*)`", re.DOTALL)
# Words in a list, as `["git", "push"]` or `("git", "push")`.
_ROW = re.compile(
    rf"(?:{_LITERAL.pattern})(?:\s*,\s*[\[(]?\s*(?:{_LITERAL.pattern}))+".replace("((?:", "(?:(?:"), re.DOTALL
)
# Perl's and Ruby's other quotes.
_QUOTE_WORD = re.compile(
    r"(?:\bq[qwx]?|%[xqQwWi]?)\s*(?:\(([^()]*)\)|\{([^{}]*)\}|\[([^\[\]]*)\]|<([^<>]*)>|([/|!#])((?:(?!\5).)*)\5)",
    re.DOTALL,
)
# Tcl, expect and languages like them.
_CALL = re.compile(r"\b(?:exec|spawn|system)\s+([^\n;]+)|\be?syscmd\(`?([^')]+)")
_SHELL_MARK = re.compile(r"!\s*([^|\n]+)|\bshell\s+([^|\n]+)")
# Of make: what its functions call, what a rule has behind a semicolon or in a line of its own, and shell assignments.
_MAKE_RUNS = re.compile(
    r"\$[({]shell\s+((?:[^(){}]|\([^()]*\))*)[)}]|^[^#\t\n:]*::?[^=;\n][^;\n]*;([^\n]+)|^[^#\t\n:]*::?;([^\n]+)"
    r"|^\t[@+-]*([^\n]+)|!=[ \t]*([^\n]+)",
    re.MULTILINE,
)
_SOCAT_RUNS = re.compile(r"(?:EXEC|SYSTEM|SHELL):(.+)", re.IGNORECASE | re.DOTALL)
_AWK_RUNS = re.compile(
    r"system\s*\(\s*\"((?:[^\"\\]|\\.)*)\"|\|&?\s*\"((?:[^\"\\]|\\.)*)\"|\"((?:[^\"\\]|\\.)*)\"\s*\|", re.DOTALL
)
_SED_RUNS = re.compile(r"(?:^|[\s;{}\d$/!])e\s+([^\n]+)|s(.)(?:(?!\2).)*\2((?:(?!\2).)*)\2[gpiImM\d]*e")
_SED_READS = re.compile(r"(?:^|[;{}\d$/!])\s*e\s*(?:[;}\n]|$)|s(.).*\1.*[&\\].*\1[gpiImM\d]*e")
_AWK_READS = re.compile(r"system\s*\(\s*(?!\"[^\"]*\"\s*\))|(?<!\|)\|(?!\|)&?\s*(?![\"\s]|getline)")
_ASSIGNING = frozenset({"make", "env", "export", "declare", "typeset", "local", "readonly"})
_AWKS = frozenset({"awk", "gawk", "mawk", "nawk"})
_TAKE_SCRIPTS = _AWKS | {"sed", "make"}
_ARE_TOLD = OPTIONS.keys() | READS_COMMANDS | _ASSIGNING | _TAKE_SCRIPTS | {"bind", "socat", "enable"}
_MOST_LITERALS = 40
_LONGEST_NAME = 200
_MOST_NAMES = 200
_CODE = re.compile(r"[\s'\"`$(){}<>|&;,=:!+\[\]]+")
_FROM_FILE = re.compile(r"-\w*f-?|--file(?:=-)?")
_SPLIT_STRING = re.compile(r"-[A-Za-z0]*S|--split-string=?")
_CONFIG_VALUE = re.compile(r"GIT_CONFIG_VALUE_\d+")
_PROGRAM = re.compile(r"(?:/usr(?:/local)?)?/s?bin/([^/]+)")


def carries(name: str) -> bool:
    """Whether a program may be told what else to run."""
    told_how = name in OPTIONS or name in _ESCAPING or name in ("sed", "socat")
    return told_how or _INTERPRETERS.fullmatch(name) is not None


@lru_cache(maxsize=256)
def speaks(name: str) -> bool:
    """Whether what a program is given as text is code in a language of its own, and not for a shell."""
    return name in _ESCAPING or _INTERPRETERS.fullmatch(name) is not None


@dataclass(frozen=True)
class Told:
    """The shell texts that a program surely runs, those that it may, and whether it runs what the line does not show."""

    sure: tuple[str, ...] = ()
    possible: tuple[str, ...] = ()
    open: bool = False


def told(name: str, args: list[Argument], text: str | None) -> Told:
    """What a program is told to run; `text` is its standard input where that is known."""
    if name not in _ARE_TOLD and not speaks(name):
        return Told()
    values = [value for option in OPTIONS[name].split() for value in _values(option, args)] if name in OPTIONS else []
    given = [arg.text for arg in args if arg.text]
    sure = [text for value in values for text in _spellings(value.text)]
    if text and name in _TAKE_SCRIPTS and any(_FROM_FILE.fullmatch(option) for option in given):
        given.append(text)
    if name in _AWKS:
        sure += _groups(_AWK_RUNS, given)
    if name == "sed":
        sure += _groups(_SED_RUNS, [value.removeprefix("--expression=") for value in given])
    if name == "make":
        sure += _groups(_MAKE_RUNS, given)
    if name == "bind":
        sure += [text.partition(":")[2].strip(' "') for text in given if ":" in text]
    if name in _ESCAPING:
        sure += _groups(_ESCAPE, [*given, text or ""])
    if name in READS_COMMANDS and text:
        sure.append(text)
    if name == "socat":
        sure += _groups(_SOCAT_RUNS, given)
    if name == "tar" and args and not args[0].text.startswith("-") and set(args[0].text) & set("IF"):
        sure += given[1:4]
    if name == "env":
        sure += _split_strings(args)
    if name in _ASSIGNING:
        sure += [value for text in given if "=" in text and (value := assigned(*text.partition("=")[::2]))]
    possible = _possible(name, [*given, text or ""])
    read = name in READS_COMMANDS and text is None and "-l" not in given
    unknown = read or any(not value.plain for value in values) or _reads_program(name, args, text)
    starts = name in _ASSIGNING and any(text.partition("=")[0] in START_FILES for text in given if "=" in text)
    return Told(tuple(sure), tuple(possible), unknown or starts or _runs_what_it_reads(name, given))


def _possible(name: str, texts: list[str]) -> list[str]:
    """What may be a command in code: each literal, and those that stand in a row, since a list of words is one, too."""
    if name in _ESCAPING:
        return _groups(_SHELL_MARK, texts) + _groups(_LITERAL, texts)[:_MOST_LITERALS]
    if name == "make":
        return [value for text in texts if (value := text.partition("=")[2])]
    if not _INTERPRETERS.fullmatch(name):
        return []
    rows = [
        " ".join(group for match in _LITERAL.finditer(row[0]) for group in match.groups() if group)
        for text in texts
        for row in _ROW.finditer(text)
    ]
    found = [text.strip("| ") for text in _groups(_LITERAL, texts)[:_MOST_LITERALS]]
    deeper = _groups(_LITERAL, [text for text in found if set(text) & set("'\"`")])
    others = [*deeper, *_groups(_QUOTE_WORD, texts), *_groups(_CALL, texts), *rows]
    return [*found, *others[:_MOST_LITERALS]]


def _reads_program(name: str, args: list[Argument], text: str | None) -> bool:
    """Whether an interpreter takes its program from what another one prints."""
    if not (speaks(name) or name in ("sed", "make")):
        return False
    if any(arg.scripts and arg.text == "/dev/fd/63" for arg in args):
        return True
    from_pipe = text is None and all(arg.text in ("-", "/dev/stdin") for arg in args)
    from_pipe = from_pipe and name not in _ESCAPING
    scripted = any(arg.text in ("-f", "-f-", "--file") for arg in args) or name not in (*_AWKS, "sed", "make")
    return from_pipe and scripted


def literals(name: str, args: list[Argument]) -> list[str]:
    """The words in quotes that stand in an interpreter's code: any may be a file that it opens."""
    if name in _ESCAPING:
        return [word for arg in args if " " in arg.text for word in arg.text.split()[:_MOST_LITERALS]]
    return files_in(*(arg.text for arg in args)) if _INTERPRETERS.fullmatch(name) else []


def names_in_code(name: str, texts: Iterable[str]) -> list[str]:
    """The words in code of a program's own language that have the form of a path, and all that stand in quotes."""
    if not speaks(name):
        return []
    codes = [text for text in texts if _CODE.search(text)]
    paths = [word for code in codes for word in _CODE.split(code) if "/" in word or "." in word]
    quoted = [word for text in _groups(_LITERAL, codes) for word in text.split()]
    return list(dict.fromkeys((*paths, *quoted)))[:_MOST_NAMES]


def files_in(*code: str) -> list[str]:
    """The literals in code that may be the name of a file."""
    found = _groups(_LITERAL, code)[:_MOST_LITERALS]
    return [text for text in found if not set(text) & set(" \t\n\\") and len(text) < _LONGEST_NAME]


def _split_strings(args: list[Argument]) -> Iterable[str]:
    """What `env -S` splits, with the arguments that follow it."""
    for at, arg in enumerate(args):
        if arg.text.startswith("-") and (match := _SPLIT_STRING.match(arg.text)):
            rest = [other.text for other in args[at + 1 :]]
            value = arg.text[match.end() :]
            yield " ".join(
                [value or "", *map(shlex.quote, rest)] if value else [*rest[:1], *map(shlex.quote, rest[1:])]
            )


def may_carry(name: str) -> bool:
    """Whether a variable of this name may hold, or name, what some program runs."""
    return name in SHELL_VARIABLES or name in START_FILES or name.startswith("GIT_CONFIG_")


def assigned(name: str, value: str) -> str:
    """The shell text that a variable of this name holds; nothing for one that is no such variable."""
    if _CONFIG_VALUE.fullmatch(name):
        return value.lstrip("!")
    if name == "GIT_CONFIG_PARAMETERS":
        return value.strip("' ").partition("=")[2].strip("'").lstrip("!")
    return value.lstrip("|") if name in SHELL_VARIABLES else ""


def copied(args: list[Argument]) -> Iterable[str]:
    """The programs of the system whose files a command is given to copy, move or link to, by their names."""
    for arg in args:
        if match := _PROGRAM.fullmatch(arg.text):
            yield match[1]
        for script in arg.scripts:
            yield from _looked_up(script)


def _looked_up(script: Script) -> Iterable[str]:
    """The programs whose places a substitution prints, as `which NAME` does."""
    stages = script.items[-1].stages if script.items else ()
    words = [word.bare or "" for stage in stages if isinstance(stage, Simple) for word in stage.words]
    if words[:1] in (["which"], ["type"], ["command"]):
        yield from (word for word in words[1:] if word and not word.startswith("-"))


def _values(option: str, args: list[Argument]) -> Iterable[Argument]:
    """What stands behind an option: in the next argument, after `=`, glued to a letter; long ones may be abbreviated."""
    for arg, following in pairwise((*args, Argument(""))):
        written, equals, value = arg.text.partition("=")
        long = option.startswith("--")
        if arg.text == option or (long and len(written) > 3 and option.startswith(written) and not equals):
            yield following
        elif equals and (written == option or (long and len(written) > 3 and option.startswith(written))):
            yield arg._replace(text=value)
        elif not long and len(option) == 2 and (bundle := re.match(rf"-[A-Za-z0-9]*?{re.escape(option[1])}", arg.text)):
            # Glued to its letter, which may stand in a bundle.
            yield arg._replace(text=arg.text[bundle.end() :]) if bundle.end() < len(arg.text) else following
        elif option == "-TT" and (bundle := re.match(r"-[A-Za-z]*?TT", arg.text)):
            yield arg._replace(text=arg.text[bundle.end() :]) if bundle.end() < len(arg.text) else following


def _spellings(value: str) -> Iterable[str]:
    """A value may be the command itself or `name=command`, and ssh also takes `name command`."""
    yield value
    name, mark, command = value.partition("=") if "=" in value else value.partition(" ")
    if mark and re.fullmatch(r"[\w:.-]+", name):
        yield command.strip("\"'[] ")
    if "," in value and " " not in value:
        yield value.replace(",", " ")


def _groups(pattern: re.Pattern[str], texts: Iterable[str]) -> list[str]:
    found = [match for text in texts for match in pattern.finditer(text)]
    return [group.replace('\\"', '"') for match in found for group in match.groups() if group and len(group) > 1]


def _runs_what_it_reads(name: str, texts: list[str]) -> bool:
    """Whether a program of sed or awk runs text that is not in the line, or the shell loads what it may run from a file."""
    if name == "enable":
        return "-f" in texts
    pattern = _SED_READS if name == "sed" else _AWK_READS if name in _AWKS else None
    return pattern is not None and any(pattern.search(text) for text in texts)
