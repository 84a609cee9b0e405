"""Glob patterns as regular expressions over relative paths."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

MAGIC = frozenset("*?[{\\")


def fixed_prefix(pattern: str) -> tuple[str, str]:
    """Split off the leading folders that hold no wildcard: `src/x/**/*.py` gives `src/x` and `**/*.py`."""
    folders = pattern.split("/")
    fixed = next((n for n, name in enumerate(folders[:-1]) if MAGIC & set(name)), len(folders) - 1)
    prefix = "/".join(folders[:fixed])
    if not prefix and fixed:
        prefix = "/"
    return prefix, "/".join(name for name in folders[fixed:] if name != ".")


def is_literal(pattern: str) -> bool:
    """Whether the pattern can name one file only."""
    return not MAGIC & set(pattern)


def other_readings(pattern: str) -> Iterator[tuple[str, str]]:
    """Yield what a pattern that matches nothing may have been meant for, with what to tell where that matches."""
    if "/" not in pattern:
        yield f"**/{pattern}", f"None lies directly in the folder; this is what **/{pattern} finds."
    literal = re.sub(r"(?<!\\)[\[\]]", r"\\\g<0>", pattern)
    if literal != pattern:
        yield literal, f"Brackets stand for one of the characters in them; this is what {literal} finds."
    if "," in pattern and "{" not in pattern:
        listed = f"{{{pattern}}}"
        yield listed, f"Alternatives stand in braces; this is what {listed} finds."


def depth(pattern: str) -> int | None:
    """Return how many folders deep a match can lie (1: directly in it); None for any depth."""
    if "**" in pattern or re.search(r"\{[^}]*/", pattern):
        return None
    return pattern.count("/") + 1


def compiled(pattern: str) -> re.Pattern[str]:
    """Return the expression that matches whole paths; what is not closed stands for itself."""
    return re.compile(f"(?s:{_translated(pattern)})\\Z")


def matcher(pattern: str) -> Callable[[str], object]:
    """Return what says whether a whole path matches, however its accents are composed."""
    if pattern.isascii():
        return compiled(pattern).match
    match = compiled(unicodedata.normalize("NFC", pattern)).match
    return lambda path: match(unicodedata.normalize("NFC", path))


def _translated(pattern: str) -> str:
    made: list[str] = []
    at = 0
    while at < len(pattern):
        piece, at = _piece(pattern, at)
        made.append(piece)
    return "".join(made)


def _piece(pattern: str, at: int) -> tuple[str, int]:
    """Translate what begins at `at`; return it and where the next thing begins."""
    character = pattern[at]
    if character == "*":
        return _star(pattern, at)
    if character == "?":
        return "[^/]", at + 1
    if character == "[":
        return _character_class(pattern, at)
    if character == "{":
        return _alternatives(pattern, at)
    if character == "\\" and at + 1 < len(pattern):
        return re.escape(pattern[at + 1]), at + 2
    return re.escape(character), at + 1


def _star(pattern: str, at: int) -> tuple[str, int]:
    end = at
    while pattern.startswith("*", end):
        end += 1
    alone = at == 0 or pattern[at - 1] in "/{,"
    if end - at == 1 or not alone:
        return "[^/]*", end
    if pattern.startswith("/", end):
        return "(?:.*/)?", end + 1
    return ".*", end


def _character_class(pattern: str, at: int) -> tuple[str, int]:
    start = at + 2 if pattern[at + 1 : at + 2] in ("!", "^") else at + 1
    end = pattern.find("]", start + 1)
    body = pattern[start:end].replace("\\", "")
    if end < 0 or "/" in body:
        return re.escape("["), at + 1
    inner = re.sub(r"([\[\]\\^&~|])", r"\\\1", body)
    made = f"[^/{inner}]" if start == at + 2 else f"[{inner}]"
    try:
        re.compile(made)
    except re.error:  # such as a range that runs backwards
        return re.escape(pattern[at : end + 1]), end + 1
    return made, end + 1


def _alternatives(pattern: str, at: int) -> tuple[str, int]:
    parts, depth_now, start = [], 0, at + 1
    for end in range(at, len(pattern)):
        character = pattern[end]
        if end and pattern[end - 1] == "\\":
            continue
        if character == "{":
            depth_now += 1
        elif character == "}":
            depth_now -= 1
            if depth_now == 0:
                parts.append(pattern[start:end])
                return f"(?:{'|'.join(map(_translated, parts))})", end + 1
        elif character == "," and depth_now == 1:
            parts.append(pattern[start:end])
            start = end + 1
    return re.escape("{"), at + 1
