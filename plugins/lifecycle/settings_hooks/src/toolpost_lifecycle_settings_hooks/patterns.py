"""Regular expressions of matchers, read by their text: which of them may try for ever.

A matcher runs on names that a model or a server made up, and nothing can stop a search that has begun.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 128
"""Characters of a name that a pattern is looked for in: no tool's name is longer that a model can call."""

_TOKEN: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[*+]|\{\d+(?:,\d*)?\}|[()|]|.", re.DOTALL)
_REPEATS: Final = re.compile(r"[*+]|\{\d+,\d*\}|\{\d{2,}\}|\{[2-9]\}")
_OPEN: Final = re.compile(r"[*+]|\{\d+,\}")
_MOST_IN_A_ROW: Final = 2
_MOST: Final = 4
"""Repeats without end, side by side and in all: with each, a search may take as many times longer as the name is long."""


def endless(pattern: str) -> str:
    """Say what in a pattern may make a search take for ever; empty where nothing does."""
    undecided = [False]  # for each group that is open: whether it holds repeats or alternatives
    closed, in_a_row, atoms, repeats = False, 0, 0, 0
    for token in _TOKEN.findall(pattern):
        if _REPEATS.fullmatch(token):
            if closed:
                return "repeats a group that holds repeats or alternatives itself"
            undecided[-1] = True
            without_end = _OPEN.fullmatch(token) is not None
            repeats += without_end
            in_a_row, atoms = (in_a_row + 1 if without_end else 0), 0
            if in_a_row > _MOST_IN_A_ROW or repeats > _MOST:
                return f"has more than {_MOST_IN_A_ROW} repeats side by side, or {_MOST} in all"
        elif token == "?" and not atoms:
            continue  # of the repeat before it
        else:
            closed = _after(token, undecided)
            atoms += 1
            in_a_row = in_a_row if atoms == 1 else 0
    return ""


def _after(token: str, undecided: list[bool]) -> bool:
    """Keep count of groups; returns whether the token closes one that holds repeats or alternatives."""
    if token == "(":
        undecided.append(False)
    elif token == "|":
        undecided[-1] = True
    elif token == ")" and len(undecided) > 1:
        held = undecided.pop()
        undecided[-1] = undecided[-1] or held
        return held
    return False
