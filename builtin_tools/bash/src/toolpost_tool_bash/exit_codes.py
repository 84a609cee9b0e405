"""Exit codes that are answers and no failures, such as that of a search that found nothing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Final

MEANINGS: Final[dict[str, str]] = {
    **dict.fromkeys(("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "git grep"), "No matches found"),
    **dict.fromkeys(("pgrep", "pkill", "pidof"), "No processes matched"),
    **dict.fromkeys(("diff", "cmp", "colordiff", "zdiff", "git diff"), "Files differ"),
    **dict.fromkeys(("test", "[", "[[", "((", "let", "expr"), "Condition is false"),
    **dict.fromkeys(("which", "type", "hash", "command -v"), "Not found"),
    "find": "Some folders could not be searched",
    "git merge-base": "It is no ancestor",
    "git check-ignore": "None of them is ignored",
    "git config": "The key is not set",
}
"""What exit code 1 of these programs says (their POSIX, GNU or own manual pages)."""

_WRAPPERS: Final = {"command": 0, "builtin": 0, "env": 0, "nice": 0, "nohup": 0, "stdbuf": 0, "timeout": 1, "time": 0}
"""Programs that run another one and end with its code, and how many words stand before it beside options."""

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_GIT_WITH_VALUE = ("-C", "-c", "--git-dir", "--work-tree")


def meaning(code: int, last: str, statuses: str) -> str:
    """Return what a code other than 0 says if it is no failure; empty if it is one.

    `last` is the simple command that bash ran last, `statuses` those of its pipeline: where it was negated, or something
    before it broke, the code is not the last program's.
    """
    each = [int(status) for status in statuses.split() if status.isdecimal()]
    if code != 1 or not each or each[-1] != 1 or any(status > 1 and status != 141 for status in each[:-1]):
        return ""
    return MEANINGS.get(_name(_words(last)), "")


def _words(command: str) -> list[str]:
    if command.startswith(("((", "[[")):
        return [command[:2]]
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def _name(words: Sequence[str]) -> str:
    """Return the program behind wrappers and assignments, with what it does where that makes a difference."""
    left = list(words)
    while left:
        word = left[0].rpartition("/")[2]
        if word == "command" and left[1:2] in (["-v"], ["-V"]):
            return "command -v"
        if _ASSIGNMENT.match(left[0]):
            left.pop(0)
        elif word in _WRAPPERS:
            left = _behind_options(left[1:])[_WRAPPERS[word] :]
        elif word == "git":
            return f"git {_subcommand(left[1:])}"
        else:
            return word
    return ""


def _behind_options(words: list[str]) -> list[str]:
    for index, word in enumerate(words):
        if not word.startswith("-"):
            return words[index:]
    return []


def _subcommand(words: Sequence[str]) -> str:
    skip = False
    for word in words:
        if not skip and not word.startswith("-"):
            return word
        skip = word in _GIT_WITH_VALUE
    return ""
