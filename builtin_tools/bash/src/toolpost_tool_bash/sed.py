"""Scripts of sed: whether one only prints, deletes and substitutes, and which files are read or edited."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .arguments import Argument
from .record import Effects

_SED_PLAIN = frozenset("pPdDgGhHnNxl=q")
_REGEX = r"/(?:[^/\\\n\[]|\\[^\n]|\[\^?\]?[^]/\\\n\[]*\])*/I?"
_SED_ADDRESS = re.compile(rf"[\s;{{}}]*(?:(?:\d+(?:~\d+)?|\$|{_REGEX})\s*,?\s*[+~]?)*\s*!?\s*")
_USUAL_SUFFIXES = frozenset({".bak", ".orig", ".old", ".tmp", "~"})
_OPENS = re.compile(r"(?:^|[\s;{}\d$/!,|#gpI])([rRwW])\s*([^\s;}]+)")
_IN_PLACE = re.compile(r"-([nErsuz]*)i\S*|--in-place(?:=.*)?")
_SED_OPTIONS = re.compile(r"-[nErsuz]+|--(quiet|silent|regexp-extended|separate|unbuffered|null-data|posix|sandbox)")


def sed(_name: str, _positional: list[Argument], args: list[Argument], effects: Effects) -> None:
    """Check the arguments of sed."""
    scripts: list[Argument] = []
    files: list[Argument] = []
    in_place = ended = False
    at, suffix = 0, ""
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
        elif _IN_PLACE.fullmatch(arg.text):
            in_place, suffix = True, _suffix(arg.text)
            if "/" in arg.text or "*" in arg.text:
                effects.refuse("sed writes its backup elsewhere")
        elif arg.text in ("-f", "--file"):
            effects.refuse("the script of sed is in a file")
            effects.files.extend(("read", file) for file in args[at : at + 1])
            at += 1
        elif not _SED_OPTIONS.fullmatch(arg.text):
            effects.refuse(f"the option {arg.text} of sed is not known to be harmless")
    if not scripts:
        scripts, files = files[:1], files[1:]
    effects.files.extend(("write" if in_place else "read", arg) for arg in files)
    if suffix:
        effects.files.extend(("write", arg._replace(text=arg.text + suffix)) for arg in files if arg.plain)
        if suffix not in _USUAL_SUFFIXES and not all(arg.plain for arg in files):
            effects.refuse("the names of sed's backups are not known")
    for script in scripts or [Argument("", known=False)]:
        if not script.known or not sed_only_edits(script.text):
            effects.refuse("the script of sed may write a file or run a program")
            named = _OPENS.findall(script.text)
            effects.files.extend(("mention" if char in "rR" else "write", Argument(name)) for char, name in named)


def _suffix(option: str) -> str:
    """What an option for editing in place adds to the name of what it keeps."""
    return option.partition("=")[2] if option.startswith("--") else option.partition("i")[2]


def without_in_place(arguments: Sequence[str]) -> list[str]:
    """The same arguments, so that sed prints what it would have written."""
    found: list[str] = []
    for text in arguments:
        match = _IN_PLACE.fullmatch(text)
        if match is None:
            found.append(text)
        elif match[1]:
            found.append("-" + match[1])
    return found


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
        elif command == "{":
            continue
        elif command in ":btT":
            label = re.compile(r"[ \t]*\w*").match(script, at)
            at = label.end() if label else at
        elif command in "aic":
            # Text up to the end of the line, of which a backslash makes the next a part.
            text = re.compile(r"(?:[^\\\n]|\\.)*", re.DOTALL).match(script, at)
            at = text.end() if text else at
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
