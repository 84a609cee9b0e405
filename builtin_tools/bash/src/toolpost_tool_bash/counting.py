"""Arithmetic that is plainly safe: on numbers, and on variables of the line that hold numbers and nothing else.

Bash evaluates the text of a variable that stands in arithmetic, `a[$(id)]` as well as `3`: where one may hold anything but a
number, the expression is not vouched for.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from .arguments import CALCULATED, Values, holds_number
from .syntax import Assign, Simple, Strange, Var, Word, is_own_variable

_OPERATORS: Final = re.compile(r"(?:[\d\s+*/%()<>!&|^~?:-]|[=!<>]=)*")
_NAME: Final = re.compile(r"\$\{([A-Za-z_]\w*)\}|(?<!\w)\$?([A-Za-z_]\w*)")
_SETS: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*([-+*/%]?=(?!=)|\+\+\s*$|--\s*$)(.*)", re.DOTALL)

_BEFORE: Final = re.compile(r"(\+\+|--)\s*([A-Za-z_]\w*)(?=\s*(?:[;,]|$))")


def names_in_sum(text: str) -> tuple[str, ...] | None:
    """The variables of an expression that changes none; None where it is made of more than numbers and variables."""
    names = tuple(braced or bare for braced, bare in _NAME.findall(text))
    rest = _NAME.sub("1", text)
    return (
        names if _OPERATORS.fullmatch(rest) and not any(sets in rest for sets in ("++", "--", "<<=", ">>=")) else None
    )


def counted(text: str, values: Values) -> frozenset[str] | None:
    """The variables that `(( ))` sets to numbers; None where it may do more than calculate with numbers."""
    known = {name for name, value in values.items() if holds_number(value)}
    changed: set[str] = set()
    for clause in re.split("[;,]", _BEFORE.sub(r"\2\1", text)):
        target, operator, expression = sets.groups() if (sets := _SETS.fullmatch(clause)) else ("", "=", clause)
        # A plain assignment does not look at what the variable held.
        needs, names = {target} if operator != "=" else set[str](), names_in_sum(expression)
        if names is None or not known.issuperset((*names, *needs)) or (target and not is_own_variable(target)):
            return None
        changed |= {target} - {""}
        known |= changed
    return frozenset(changed)


def settled(word: Word, values: Values) -> Word:
    """The word with its sums known to be numbers, where their variables hold nothing else."""
    if not _has_sum(word):
        return word
    pieces = (
        Var(CALCULATED, piece.quoted) if isinstance(piece, Strange) and _adds_up(piece.names, values) else piece
        for piece in word.pieces
    )
    return word._replace(pieces=tuple(pieces))


def settled_command(node: Simple, values: Values) -> Simple:
    """The same for all words of a command; of several assignments the first may change what the next ones mean."""
    if len(node.assigns) > 1:
        return node
    words = (*node.words, node.assigns[0].value) if node.assigns else node.words
    if not any(map(_has_sum, words)):
        return node
    assigns = tuple(Assign(a.name, settled(a.value, values), a.simple, a.items) for a in node.assigns)
    return node._replace(assigns=assigns, words=tuple(settled(word, values) for word in node.words))


def _has_sum(word: Word) -> bool:
    return any(isinstance(piece, Strange) and piece.names for piece in word.pieces)


def _adds_up(names: Collection[str], values: Values) -> bool:
    return bool(names) and all(holds_number(values.get(name)) for name in names)
