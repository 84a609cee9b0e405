"""Programs of awk: whether one only computes and prints, told by its tokens, as far as those are the same to every awk."""

from __future__ import annotations

import re
from typing import Final

from .arguments import Argument
from .record import Effects
from .syntax import words

_TOKEN = re.compile(
    r"""(?P<blank>[ \t]+|\\\n|\#[^\n]*)|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<name>[A-Za-z_]\w*)
    |(?P<number>\d+\.?\d*|\.\d+)|(?P<end>[;{}\n])|(?P<other>\|\||&&|\+\+|--|>=|<=|==|!=|!~|[-+*%^]=|[^\s"])""",
    re.VERBOSE | re.DOTALL,
)
_REGEX: Final = re.compile(r"/(?:[^/\\\[\n]|\\.|\[\^?\]?(?:[^]/\\\n\[]|\[:[a-z]+:\])*\])+/")
_FILE = re.compile(r"(>?)\s*\"((?:[^\"\\\n\s]|\\.)+)\"")
_UNSAFE = words("system getline close fflush ENVIRON PROCINFO ARGV ARGC SYMTAB FUNCTAB")
_BEFORE_OPERAND = words("print printf return in do else exit delete case BEGIN END")
# After these a slash may begin a regular expression or divide, depending on the version.
_UNCLEAR = words("length ++ -- /")
_GOES_ON = (",", "&&", "||", "do", "else")


def awk(name: str, _positional: list[Argument], args: list[Argument], effects: Effects) -> None:
    """Check the arguments of awk."""
    at = 0
    while at < len(args) and args[at].known and args[at].text.startswith("-") and args[at].text != "-":
        option = args[at].text
        if not args[at].plain or not re.fullmatch(r"-F.*|-v.*|--", option, re.DOTALL):
            effects.refuse(f"the option {option} of {name} is not known to be harmless")
            if match := re.match(r"-[fEi]|--(?:file|exec)=?", option):
                effects.files.extend(("read", arg) for arg in _value(args[at : at + 2], match.end()))
                at += len(option) == match.end()
        if option in ("-F", "-v") and any(arg.splits for arg in args[at + 1 : at + 2]):
            effects.refuse(f"the value of the option {option} of {name} may be several words")
        at += 2 if option in ("-F", "-v") else 1
        if option == "--":
            break
    program, files = args[at : at + 1], args[at + 1 :]
    if not program or not program[0].known or not only_prints(program[0].text):
        effects.refuse(f"the program of {name} may write, read elsewhere or run something")
        found = _FILE.findall(program[0].text) if program else []
        effects.files.extend(("write" if mark else "mention", Argument(file)) for mark, file in found)
    for arg in files:
        if arg.may_be_option:
            effects.refuse(f"{arg.source} may turn out to be an option of {name}")
        effects.files.append(("read", arg))


def _value(option: list[Argument], end: int) -> list[Argument]:
    """The value of an option: what is glued to it, or else the argument that follows."""
    return [option[0]._replace(text=option[0].text[end:])] if option[0].text[end:] else option[1:]


def only_prints(program: str) -> bool:
    """Whether the program can't write a file, run a program, or read anything but its operands."""
    prints, level, before, at = False, 0, "", 0
    while at < len(program):
        match = _token(program, at, before)
        if match is None:
            return False
        at, text, kind = match.end(), match[0], match.lastgroup
        if kind == "blank":
            continue
        if kind == "end" and not (text == "\n" and before in _GOES_ON):
            prints, level = False, 0
        elif text in ("(", ")"):
            level += 1 if text == "(" else -1
        elif text in ("print", "printf"):
            prints, level = True, 0
        elif text in ("|", "@", "'", "`") or text in _UNSAFE or (text == ">" and prints and level <= 0):
            return False
        if text != "\n" or before not in _GOES_ON:
            before = {"string": "a", "number": "0", None: "/"}.get(kind, text)
    return True


def _token(program: str, at: int, before: str) -> re.Match[str] | None:
    """The token that stands there; None where it is unclear which."""
    if program[at] != "/":
        return _TOKEN.match(program, at)
    if before in _UNCLEAR:
        return None
    if before in _BEFORE_OPERAND or not (before[:1].isalnum() or before[:1] in ("_", ")", "]")):
        return _REGEX.match(program, at)
    # After `if (…)` a slash begins a regular expression, after another parenthesis it divides.
    rest = program[at + 1 :].partition("/")[0]
    return None if before == ")" and '"' in rest else _TOKEN.match(program, at)
