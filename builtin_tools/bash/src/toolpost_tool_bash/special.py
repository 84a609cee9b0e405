"""Programs whose operands are a small language of their own: each checked for what is known to be harmless."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from .arguments import Argument
from .syntax import words


@dataclass
class Effects:
    """Files by kind (`read`, `list`, `tree`, `write`, `wipe`), and why the table does not vouch for the rest."""

    files: list[tuple[str, Argument]] = field(default_factory=list)
    why: str = ""
    known: bool = True
    operands: list[Argument] = field(default_factory=list)
    options: set[str] = field(default_factory=set)

    def refuse(self, why: str) -> None:
        """Keep the first reason."""
        self.why = self.why or why


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
_FIND_FILES = frozenset({"-newer", "-anewer", "-cnewer", "-samefile"})
FIND_RUNS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_SED_PLAIN = frozenset("pPdDgGhHnNxl=q")
_SED_ADDRESS = re.compile(r"[\s;{}]*(?:(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n\[]|\\[^\n])*/I?)\s*,?\s*[+~]?)*\s*!?\s*")
_SED_OPTIONS = re.compile(r"-[nErsuz]+|--(quiet|silent|regexp-extended|separate|unbuffered|null-data|posix|sandbox)")
_AWK_UNSAFE = re.compile(r"system|\||>|getline|@|ARGV|ARGC|ENVIRON|PROCINFO|close|fflush")
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
    starts = [arg for kind, arg in effects.files if kind == "list"] or [Argument(".")]
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
        elif arg.plain and arg.text == "-delete":
            effects.files.extend(("wipe", start) for start in starts)
            effects.refuse("find -delete removes what it finds")
        else:
            effects.refuse(f"{arg.source or arg.text} in the expression of find may write or run something")
            effects.files.extend(("mention", value) for value in following)


def _sed(_name: str, _positional: list[Argument], args: list[Argument], effects: Effects) -> None:
    scripts: list[Argument] = []
    files: list[Argument] = []
    in_place = ended = False
    at = 0
    while at < len(args):
        arg = args[at]
        at += 1
        if ended or not arg.text.startswith("-") or arg.text == "-":
            if arg.may_be_option or (not arg.known and not arg.text):
                effects.refuse("a word of sed may turn out to be an option")
            files.append(arg)
        elif not arg.plain:
            effects.refuse("an option of sed is only known once it runs")
        elif arg.text == "--":
            ended = True
        elif arg.text in ("-e", "--expression"):
            scripts.extend(args[at : at + 1])
            at += 1
        elif arg.text.startswith("--expression="):
            scripts.append(Argument(arg.text.partition("=")[2]))
        elif re.fullmatch(r"-i\S*|-[nErsuz]+i\S*|--in-place(=.*)?", arg.text):
            in_place = True
            if "/" in arg.text or "*" in arg.text:
                effects.refuse("sed writes its backup elsewhere")
        elif not _SED_OPTIONS.fullmatch(arg.text):
            effects.refuse(f"the option {arg.text} of sed is not known to be harmless")
    if not scripts:
        scripts, files = files[:1], files[1:]
    effects.files.extend(("write" if in_place else "read", arg) for arg in files)
    for script in scripts or [Argument("", known=False)]:
        if not script.known or not sed_only_edits(script.text):
            effects.refuse("the script of sed may write a file or run a program")


def sed_only_edits(script: str) -> bool:
    """Whether a sed script only prints, deletes and substitutes; a form that is not spelled out here is refused."""
    at = 0
    while at < len(script):
        address = _SED_ADDRESS.match(script, at)
        at = address.end() if address else at
        if at >= len(script):
            return True
        command = script[at]
        at += 1
        if command in "sy":
            end = _substitution_end(script, at)
            if end is None:
                return False
            flags = re.compile(r"[gpiI0-9]*").match(script, end)
            at = flags.end() if flags else end
        elif command == "q":
            number = re.compile(r"\s*\d*").match(script, at)
            at = number.end() if number else at
        elif command not in _SED_PLAIN:
            return False
        closing = re.compile(r"[ \t]*(?:[;\n}]|$)").match(script, at)
        if not closing:
            return False
        at = closing.end()
    return True


def _substitution_end(script: str, at: int) -> int | None:
    start, delimiter = at, script[at : at + 1]
    if not delimiter or delimiter in "\\\n" or delimiter.isalnum() or delimiter.isspace():
        return None
    for _ in range(2):
        at += 1
        while at < len(script) and script[at] != delimiter:
            at += 2 if script[at] == "\\" else 1
        if at >= len(script):
            return None
    # A delimiter inside a bracket expression is read in two ways by different versions.
    if re.search(r"\[[^\]]*" + re.escape(delimiter), script[start + 1 : at]):
        return None
    return at + 1


def _awk(name: str, _positional: list[Argument], args: list[Argument], effects: Effects) -> None:
    at = 0
    while at < len(args) and args[at].known and args[at].text.startswith("-") and args[at].text != "-":
        option = args[at].text
        if not args[at].plain or not re.fullmatch(r"-F.*|-v.*|--", option, re.DOTALL):
            effects.refuse(f"the option {option} of {name} is not known to be harmless")
        at += 2 if option in ("-F", "-v") else 1
        if option == "--":
            break
    program, files = args[at : at + 1], args[at + 1 :]
    if not program or not program[0].known or _AWK_UNSAFE.search(program[0].text):
        effects.refuse(f"the program of {name} may write, read elsewhere or run something")
    for arg in files:
        if arg.may_be_option:
            effects.refuse(f"{arg.source} may turn out to be an option of {name}")
        effects.files.append(("read", arg))


def _copy(name: str, positional: list[Argument], _args: list[Argument], effects: Effects) -> None:
    folder = any(kind == "write" for kind, _ in effects.files)
    sources, target = (positional, []) if folder else (positional[:-1], positional[-1:])
    deep = bool(effects.options & {"-r", "-R", "-a", "--recursive", "--archive"}) and name != "ln"
    effects.files.extend(("tree" if deep else "read", arg) for arg in sources)
    effects.files.extend(("write", arg) for arg in target)
    folders = target or [arg for kind, arg in effects.files if kind == "write"]
    for into in folders:
        for arg in sources:
            if into.plain and arg.plain and (last := arg.text.rstrip("/").rpartition("/")[2]) not in ("", ".", ".."):
                effects.files.append(("within", Argument(f"{into.text}/{last}")))
    if effects.options & {"-s", "-l", "--symbolic-link", "--link"} and name == "cp":
        effects.refuse("cp makes links")
    if deep:
        effects.files.extend(("wipe", arg) for arg in target)


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


def _listing(name: str, positional: list[Argument], _args: list[Argument], effects: Effects) -> None:
    lists = {"--list", "-l", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"}
    if positional and not effects.options & lists:
        effects.refuse(f"{name} with a name makes one")


def _words(allowed: dict[str, int]) -> Special:
    def check(name: str, positional: list[Argument], _args: list[Argument], effects: Effects) -> None:
        first = positional[0] if positional else Argument("")
        if not first.plain or first.text not in allowed or allowed[first.text] < len(positional) - 1:
            effects.refuse(f"{name} {first.text} may change something")

    return check


def _config(name: str, positional: list[Argument], _args: list[Argument], effects: Effects) -> None:
    asks = effects.options & {"--get", "--get-all", "--get-regexp", "--list", "-l", "--get-urlmatch"}
    if any(not arg.plain for arg in positional) or len(positional) > (2 if asks else 1):
        effects.refuse(f"{name} may set a value")


SPECIAL: Final[dict[str, Special]] = {
    "pattern": _nothing,
    "jq": _jq,
    "test": _test,
    "date": _date,
    "psflags": _process_flags,
    "find": _find,
    "sed": _sed,
    "awk": _awk,
    "cd": _nothing,
    "copy": _copy,
    "move": _move,
    "dd": _dd,
    "none": _refuse,
    "listing": _listing,
    "remote": _words({"": 0, "get-url": 2}),
    "stash": _words({"list": 0, "show": 1}),
    "worktree": _words({"list": 1}),
    "config": _config,
    "reflog": _words({"": 0, "show": 1}),
}
