"""Exit codes that are answers and no failures, such as that of a search that found nothing."""

from __future__ import annotations

import re
from typing import Final

MEANINGS: Final[dict[str, str]] = {
    "grep": "No matches found",
    "egrep": "No matches found",
    "fgrep": "No matches found",
    "rg": "No matches found",
    "ag": "No matches found",
    "pgrep": "No processes matched",
    "diff": "Files differ",
    "cmp": "Files differ",
    "test": "Condition is false",
    "[": "Condition is false",
    "[[": "Condition is false",
    "find": "Some folders could not be searched",
}
"""What exit code 1 of these programs says (their POSIX or GNU manual pages)."""


def meaning(command: str, code: int) -> str:
    """Return what a code other than 0 says if it is no failure; empty if it is one."""
    if code != 1:
        return ""
    pipeline = re.split(r"&&|\|\||;|\n", command.strip())[-1]
    words = re.split(r"(?<!\|)\|(?!\|)", pipeline)[-1].split()
    while words and re.match(r"[A-Za-z_]\w*=", words[0]):
        words.pop(0)
    return MEANINGS.get(words[0].rpartition("/")[2], "") if words else ""
