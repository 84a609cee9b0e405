"""Turns words into arguments as the program would get them: quotes gone, braces, tildes and known variables expanded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from .syntax import Assign, Piece, Script, Strange, Sub, Text, Var, Word, scripts_of

_DIGITS = re.compile(r"-?\d+")
WILD: Final = re.compile(r"[*?]|\[.+\]", re.DOTALL)
_PLAIN_PATTERN = re.compile(r"[\w.*?][\w.*?-]*", re.ASCII)
_SPLIT = frozenset(" \t\n*?[\\")
_EXPANDED = re.compile(r"[*?\[{~]")
_MOST_WORDS = 64


class OneOf(str):
    """The value of a variable that is some file name which this pattern matches."""

    __slots__ = ()


class Number(str):
    """The value of a variable that is some whole number."""

    __slots__ = ()


class Elements(str):
    """The value of `NAME[@]`: the elements of an array, each with a NUL behind it."""

    __slots__ = ()


NUMBER: Final = Number("\0")
CALCULATED: Final = "(arithmetic)"
"""What stands for the name of a variable where a calculation makes a number."""
_COUNTS: Final = frozenset({CALCULATED, "#", "?", "$"})
_SEQUENCE: Final = re.compile(r"\{-?\d+\.\.-?\d+(?:\.\.-?\d+)?\}")
Values: TypeAlias = Mapping[str, str | None]


class Found(NamedTuple):
    """What another command found, below some folders or just them: the arguments that a command gets for it.

    `split` says that a name with blanks in it would become several; `bare` that the names have no folder in front, so that
    one could look like an option. `names` is a pattern of all their names, empty where there is none.
    """

    starts: tuple[Argument, ...]
    split: bool = True
    bare: bool = False
    names: str = ""


class Argument(NamedTuple):
    """One argument. `text` is all of it, or where `known` is false what is sure of its beginning.

    `wild` says that unquoted wildcards stand in it; `pattern` is then its text with quoted ones escaped. `splits` says that
    it may become any number of words. `sure` is all that is known of one that is not: what stands round the unknown.
    `number` says that it is a number, or several, whatever else is known of it. `found` are the files that it stands for.
    """

    text: str
    known: bool = True
    wild: bool = False
    splits: bool = False
    strange: str = ""
    scripts: tuple[Script, ...] = ()
    source: str = ""
    pattern: str = ""
    sure: str = ""
    number: bool = False
    found: Found | None = None

    @property
    def plain(self) -> bool:
        """Exactly one argument with exactly this text."""
        return self.known and not self.wild

    @property
    def may_be_option(self) -> bool:
        """Whether it could turn out to begin with a dash though the line does not show one."""
        if self.known and not self.wild:
            return False
        return not self.text or (self.wild and self.text[0] in "*?[")


def is_plain_pattern(arg: Argument) -> bool:
    """Whether it is a pattern of names that everybody reads alike."""
    return arg.plain and _PLAIN_PATTERN.fullmatch(arg.text) is not None


def holds_number(value: str | None) -> bool:
    """Whether a variable of this value holds a number and nothing else."""
    return isinstance(value, Number) or (value is not None and _DIGITS.fullmatch(value) is not None)


def assigned_text(word: Word, values: Values) -> str | None:
    """The text that an assignment of this word gives a variable; None where that is only known once the line runs."""
    first = word.pieces[0] if word.pieces else None
    if isinstance(first, Text) and not first.quoted and first.text.startswith("~"):
        return None
    only = _only(word)
    if isinstance(only, Var) and _is_number(only, values):
        return values.get(only.name, NUMBER)
    texts = [piece.text if isinstance(piece, Text) else _held(piece, values) for piece in word.pieces]
    # After a colon a tilde is expanded, too; a pattern in a longer text would have to be told from its quoted part.
    if None in texts or any(isinstance(text, OneOf) for text in texts) or ":~" in "".join(filter(None, texts)):
        return None
    return "".join(filter(None, texts))


def literal_items(assign: Assign, values: Values) -> list[str] | None:
    """The elements of a new array that are wholly known, and none of them with a subscript; None for any other."""
    if assign.items is None:
        return None
    args = [arg for word in assign.items for arg in arguments(word, values)]
    return [arg.text for arg in args] if all(arg.plain and not arg.text.startswith("[") for arg in args) else None


def looped(arg: Argument) -> str | None:
    """What a loop's variable holds for one word of its list."""
    if not arg.wild:
        return arg.text if arg.known else NUMBER if arg.number else None
    return OneOf(arg.text) if arg.pattern == arg.text and not set(arg.text) & set("{}~\\") else None


def arguments(word: Word, values: Values) -> list[Argument]:
    """Expand one word; `values` holds the variables whose value is sure, such as HOME."""
    source = word.source
    if (literal := _literal(word)) is not None:
        return [Argument(literal, True, False, False, "", (), source)]
    if (quoted := _all_quoted(word, values)) is not None:
        return [Argument(quoted, source=source)]
    if (elements := _elements(word, values)) is not None:
        return [Argument(text, source=source) for text in elements]
    tilde = _tilde(word, values)
    unsure = next((piece for piece in word.pieces if _value(piece, values) is None), None)
    scripts = tuple(script for piece in word.pieces for script in scripts_of(piece))
    strange = next((piece.why for piece in word.pieces if isinstance(piece, Strange)), "")
    if len(word.pieces) == 1 and isinstance(word.pieces[0], Sub) and word.pieces[0].kind in ("<(", ">("):
        return [Argument("/dev/fd/63", scripts=scripts, source=source)]
    if unsure is not None or tilde is None:
        splits = any(
            (
                not isinstance(piece, Text)
                and not (piece.quoted or _is_number(piece, values))
                and _value(piece, values) is None
            )
            or _many(piece)
            for piece in word.pieces
        ) or _braces(word)
        alone = _only(word)
        number = alone is not None and _is_number(alone, values)
        begins = word.pieces[: word.pieces.index(unsure)] if unsure else ()
        known = "".join(_value(piece, values) or "" for piece in begins)
        sure = "".join(_value(piece, values) or "" for piece in word.pieces)
        text = "" if tilde is None else known
        return [Argument(text, False, _is_wild(word), splits, strange, scripts, source, sure=sure, number=number)]
    chars = [
        (char, not isinstance(value, OneOf) and (piece.quoted or isinstance(piece, Var)))
        for piece in word.pieces
        for value in (_value(piece, values) or "",)
        for char in value
    ]
    if tilde:
        chars = [(char, True) for char in tilde[0]] + chars[tilde[1] :]
    results = _expand_braces(chars)
    if results is None or any(result[:1] == [("~", False)] for result in results):
        number = _SEQUENCE.fullmatch("".join(char for char, quoted in chars if not quoted)) is not None
        return [Argument("", False, splits=True, source=source, number=number)]
    return [
        Argument(
            "".join(char for char, _ in result),
            wild=WILD.search("".join("x" if quoted else char for char, quoted in result)) is not None,
            scripts=scripts,
            source=source,
            pattern="".join(f"[{char}]" if quoted and char in "*?[" else char for char, quoted in result),
        )
        for result in results
    ]


def _literal(word: Word) -> str | None:
    """The text of a word that nothing expands; None for any other."""
    texts: list[str] = []
    for piece in word.pieces:
        if not isinstance(piece, Text) or not (piece.quoted or not _EXPANDED.search(piece.text)):
            return None
        texts.append(piece.text)
    return "".join(texts)


def _only(word: Word) -> Piece | None:
    """The one piece that a word consists of, beside empty quotes."""
    pieces = [piece for piece in word.pieces if not (isinstance(piece, Text) and piece.quoted and not piece.text)]
    return pieces[0] if len(pieces) == 1 else None


def _elements(word: Word, values: Values) -> list[str] | None:
    """The elements of an array that a word stands for; None where it is no such word, or they would be split further."""
    only = _only(word)
    held = values.get(only.name) if isinstance(only, Var) else None
    if only is None or not isinstance(held, Elements):
        return None
    elements = held.split("\0")[:-1]
    whole = all(text and not set(text) & _SPLIT for text in elements)
    return elements if only.quoted or whole else None


def _all_quoted(word: Word, values: Values) -> str | None:
    """The text of a word in which all is quoted and known; None for any other."""
    texts: list[str] = []
    for piece in word.pieces:
        text = piece.text if isinstance(piece, Text) else _held(piece, values)
        if text is None or not piece.quoted or isinstance(text, OneOf) or _many(piece):
            return None
        texts.append(text)
    return "".join(texts) if texts else None


def _value(piece: Piece, values: Values) -> str | None:
    if isinstance(piece, Text):
        return piece.text
    # An unquoted value is split and globbed again: only one that has nothing to split is sure.
    value = _held(piece, values)
    return value if value is None or piece.quoted or (value and not set(value) & _SPLIT) else None


def _held(piece: Piece, values: Values) -> str | None:
    value = values.get(piece.name) if isinstance(piece, Var) else None
    return None if isinstance(value, Number | Elements) else value


def _is_number(piece: Piece, values: Values) -> bool:
    return isinstance(piece, Var) and (piece.name in _COUNTS or holds_number(values.get(piece.name)))


def _many(piece: Piece) -> bool:
    return isinstance(piece, Var) and (piece.name in ("@", "*") or piece.name.endswith("[@]"))


def _is_wild(word: Word) -> bool:
    return any(isinstance(piece, Text) and not piece.quoted and set(piece.text) & set("*?[") for piece in word.pieces)


def _braces(word: Word) -> bool:
    return any(isinstance(piece, Text) and not piece.quoted and "{" in piece.text for piece in word.pieces)


def _tilde(word: Word, values: Values) -> tuple[str, int] | tuple[()] | None:
    """The home folder for a leading tilde and the characters it stands for; None where it names another folder."""
    first = word.pieces[0] if word.pieces else None
    if not isinstance(first, Text) or first.quoted or not first.text.startswith("~"):
        return ()
    prefix = first.text.split("/", 1)[0]
    if prefix != "~" or ("/" not in first.text and len(word.pieces) > 1):
        return None
    home = values.get("HOME")
    return (home, 1) if home is not None else None


def _expand_braces(chars: list[tuple[str, bool]]) -> list[list[tuple[str, bool]]] | None:
    """Expand `{a,b}`; None for sequences and for more than a few dozen words."""
    for start, (char, quoted) in enumerate(chars):
        if char != "{" or quoted:
            continue
        end, commas = _closing(chars, start)
        if end is None:
            continue
        inner = "".join(char for char, _ in chars[start:end])
        if not commas:
            if ".." in inner:
                return None
            continue
        cuts = [start, *commas, end]
        results: list[list[tuple[str, bool]]] = []
        for left, right in pairwise(cuts):
            rest = _expand_braces(chars[:start] + chars[left + 1 : right] + chars[end + 1 :])
            if rest is None or len(results) + len(rest) > _MOST_WORDS:
                return None
            results.extend(rest)
        # A word that comes to nothing is dropped, as by bash.
        return [result for result in results if result] or [[]]
    return [chars]


def _closing(chars: list[tuple[str, bool]], start: int) -> tuple[int | None, list[int]]:
    level, commas = 0, []
    for at in range(start, len(chars)):
        char, quoted = chars[at]
        if quoted:
            continue
        if char == "{":
            level += 1
        elif char == "," and level == 1:
            commas.append(at)
        elif char == "}":
            level -= 1
            if level == 0:
                return at, commas
    return None, []
