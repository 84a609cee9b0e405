"""Counting the lines that differ."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Sequence
from typing import Final

_WIDE: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks of texts that hold NUL bytes. UTF-32 stands before UTF-16, whose mark is the beginning of UTF-32's."""
_MOST_TO_ALIGN = 2_000
"""Lines up to which the order counts as well: aligning takes time with the square of them."""


def changed_lines(old: bytes, new: bytes) -> tuple[int, int] | None:
    """Return how many lines of `new` are not in `old`, and the other way round; None where one is no text."""
    old, new = _narrow(old), _narrow(new)
    if b"\0" in old[:8000] or b"\0" in new[:8000]:
        return None
    before, after = _unlike(old.splitlines(), new.splitlines())
    if len(before) + len(after) > _MOST_TO_ALIGN:
        left, right = Counter(before), Counter(after)
        return (right - left).total(), (left - right).total()
    same = _aligned(before, after)
    return len(after) - same, len(before) - same


def _narrow(data: bytes) -> bytes:
    """Return a text whose byte order mark says UTF-16 or UTF-32 in UTF-8; anything else as it is."""
    encoding = next((encoding for mark, encoding in _WIDE if data.startswith(mark)), "")
    try:
        return data.decode(encoding).encode() if encoding else data
    except UnicodeError:
        return data


def _unlike(old: list[bytes], new: list[bytes]) -> tuple[Sequence[bytes], Sequence[bytes]]:
    """Leave out what the two begin and end with alike."""
    start, most = 0, min(len(old), len(new))
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return old[start : len(old) - end], new[start : len(new) - end]


def _aligned(old: Sequence[bytes], new: Sequence[bytes]) -> int:
    """Return how many lines stand in both, in the same order."""
    if not old or not new:
        return 0
    from difflib import SequenceMatcher

    return sum(block.size for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks())
