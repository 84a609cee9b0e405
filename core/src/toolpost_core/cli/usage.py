"""What is wrong with a command line."""

from __future__ import annotations

from collections.abc import Iterable

from toolpost import ToolpostError


class UsageMistake(ToolpostError):
    """Raised when a command line can't be understood; says what is allowed."""


def near(word: str, names: Iterable[str], likeness: float = 0.6) -> str:
    """Return ` Did you mean …?` with the name that a word is nearest to; nothing where none is as near as that."""
    from difflib import get_close_matches

    found = get_close_matches(word, list(names), 1, likeness)
    return f" Did you mean {found[0]!r}?" if found else ""
