"""Commands of words that mean what they show, or are one variable in quotes: most of what people type is made of such."""

from __future__ import annotations

import re
from typing import Final

from .syntax import Text, Var, Word

_BARE = r"[\w./:,@%+-]++"
_QUOTED = r"""'[^']*+'|"\$[A-Za-z_]\w*+"|"\$\{[A-Za-z_]\w*+\}"|"[^"$`\\]*+\""""
_WORDS = rf"(?: (?:[\w./:,@%+=-]++|{_QUOTED})(?=[\s;|&)]|\Z))*+"
_WORD = re.compile(
    r"""([\w./:,@%+=-]++)|'([^']*+)'|"\$(?:([A-Za-z_]\w*+)|\{([A-Za-z_]\w*+)\})"|"([^"$`\\]*+)\"""", re.ASCII
)
PLAIN_COMMAND: Final = re.compile(rf"(?:{_BARE}|{_QUOTED}){_WORDS}(?= *(?:[\n;|)]|&(?!>)|\Z))", re.ASCII)
"""Such a command, where it surely ends. A keyword in front is not told from a program."""

_NO_KEYWORD = r"(?!(?:if|then|else|elif|fi|do|done|case|esac|while|until|for|select|function|time|coproc|in)\b)"
_IN_A_ROW = rf"{_NO_KEYWORD}{_BARE}(?=[ ;]|\Z){_WORDS}(?: 2>(?:&1|/dev/null)(?=[ ;]|\Z))?+"
PLAIN_LINE: Final = re.compile(rf"{_IN_A_ROW}(?:(?: (?:&&|\|\|?)| ?;) {_IN_A_ROW})*+", re.ASCII)
"""Such commands in a row, in which two readings could not differ."""


def words_of(command: str) -> tuple[Word, ...]:
    """The words of a command of that kind."""
    return tuple([_word(match) for match in _WORD.finditer(command)])


def _word(match: re.Match[str]) -> Word:
    bare, single, name, braced, double = match.groups()
    if bare:
        return Word((Text(bare),), bare)
    if variable := name or braced:
        return Word((Text("", quoted=True), Var(variable, quoted=True)), match[0])
    return Word((Text(single or double or "", quoted=True),), match[0])
