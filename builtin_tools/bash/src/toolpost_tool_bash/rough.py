"""A rough reading of a line: what its text would be once quotes are gone and what it says of variables is filled in.

Bash knows better; what only this finds is a reason to ask and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from .ansi_c import decoded
from .syntax import Text

MOST_TEXT: Final = 20_000
"""How long a reading may grow before it is given up."""
_ROUNDS = 6
_MOST_WORDS = 16
_ANSI = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_QUOTES = re.compile(r"""['"\\]""")
_ASSIGNED = re.compile(r"(?:^|(?<=[\s;&|({]))([A-Za-z_]\w*)\+?=([^\s;&|()]*)")
_PRINTS = r"(?:echo|printf(?:\s+%s)?)\s+([^()`$]*?)\s*"
_ECHOED = re.compile(rf"`\s*{_PRINTS}`")
_PRINTED = re.compile(rf"\$\(\s*{_PRINTS}\)")
_HERE = re.compile(
    r"(?:\$\(\s*|`)(?:pwd|git rev-parse --show-toplevel)\s*[)`]"
    r"|/proc/(?:self|thread-self|\$\$|\d+)/cwd(?=/|\s|$)|~[-+\d](?=/)"
)
_BRACED = re.compile(r"\$\{[#!]?(\w+)(?:\[[^\]]*\])?(:?[-=+?]|##?|%%?|//?|:|[,^]{1,2}|@)?([^}$`]*)\}")
_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|[\d@*#?!-])")
_RANGE = re.compile(r"\{(\w)\.\.\1\}")
_CHOICE = re.compile(r"\{([^{}\s]*,[^{}\s]*)\}")


def roughly(line: str, values: Mapping[str, str | None], *, in_order: bool = False) -> str | None:
    """The text, with these values of variables beside the line's own; None where it grows too long.

    A value counts wherever it is set, or with `in_order` only behind that, and not where `${name:-word}` has another.
    """
    known = {name: value for name, value in values.items() if value is not None}
    known.setdefault("OLDPWD", known.get("PWD", ""))
    text = _QUOTES.sub("", _ANSI.sub(_decoded, line.replace("\\\n", "")).replace('$"', '"'))
    text = _HERE.sub(".", text)
    filled: list[str] = []
    forced = False
    for _ in range(_ROUNDS):
        before = text
        waiting = _note(text, known) if not forced else set()
        text = _RANGE.sub(r"\1", _PRINTED.sub(r"\1", _ECHOED.sub(r"\1", text)))
        for pattern in (_BRACED, _VARIABLE):
            begins = {match[1]: match.start() for match in _ASSIGNED.finditer(text)} if in_order else {}
            found = [
                (match, _part(match, {} if match.start() < begins.get(match[1], 0) else known, defaults=in_order))
                for match in pattern.finditer(text)
            ]
            filled += [value for _, value in found if value]
            texts = iter([match[0] if match[1] in waiting else value for match, value in found])
            text = pattern.sub(lambda _: next(texts), text)  # noqa: B023 - called at once
        if len(text) > MOST_TEXT:
            return None
        if text == before and not waiting:
            break
        # Of a variable whose value needs itself nothing is known.
        forced = text == before
    # What is filled in may be glued to a letter that is no part of it.
    return " ".join(dict.fromkeys((text, *filled)))


def _note(text: str, known: dict[str, str]) -> set[str]:
    """Note the variables that a text gives a value; return those whose value is still to be worked out."""
    waiting = set()
    for name, value in _ASSIGNED.findall(text):
        if not set(value) & {"$", "`"}:
            known[name] = value
        elif name not in known:
            waiting.add(name)
    return waiting - known.keys()


def alternatives(word: str) -> Iterator[str]:
    """The words that one with braces stands for, up to a few."""
    waiting, given = [word], 0
    while waiting and given < _MOST_WORDS:
        word = waiting.pop()
        choice = _CHOICE.search(word)
        if choice is None:
            given += 1
            yield word
        else:
            around = word[: choice.start()], word[choice.end() :]
            waiting.extend(one.join(around) for one in choice[1].split(","))


def _decoded(match: re.Match[str]) -> str:
    piece = decoded(match[1])
    return piece.text if isinstance(piece, Text) else ""


def _part(match: re.Match[str], known: Mapping[str, str], *, defaults: bool) -> str:
    name, operator, rest = match.groups() if match.re is _BRACED else (match[1], None, "")
    value = known.get(name or "", "")
    if operator is None or operator[0] in ",^@":
        return value
    if operator[-1] in "-=":
        return rest if defaults or not value else value
    if operator[-1] == "+":
        return rest
    if operator[0] == "#":
        return value.removeprefix(rest)
    if operator[0] == "%":
        return value.removesuffix(rest)
    if operator[0] == "/":
        old, _, new = rest.partition("/")
        return value.replace(old, new, -1 if operator == "//" else 1) if old else value
    start = re.match(r"\s*(\d+)", rest)
    return value[int(start[1]) :] if start else value
