"""Giving texts their share of so many tokens: short ones stay whole, long ones as far as there is room."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from toolpost.tokens import tokens_in_text

LEAST: Final = 60
"""Tokens below which a text that is cut says nothing any more: rather fewer texts than that."""
MOST: Final = 0.25
"""What one text may have of all, also where there is room: who pastes a whole file wants it read once."""
_PARAGRAPH: Final = "\n\n"


def fitting(texts: Sequence[str], tokens: int) -> tuple[str, ...]:
    """Return the texts with at most about so many tokens in all; of the longest ones parts are left out.

    Where all of them would become too short for that, the oldest go, but for the first: it says what all is about.
    """
    if not texts:
        return ()
    sizes = [tokens_in_text(text) for text in texts]

    def is_enough(gone: int) -> bool:
        left = [sizes[0], *sizes[1 + gone :]]
        return share(left, tokens) >= min(LEAST, max(left))

    gone = bisect_left(range(len(texts) - 1), True, key=is_enough)
    most = min(share([sizes[0], *sizes[1 + gone :]], tokens), max(round(tokens * MOST), 1))
    return tuple(shortened(text, most) for text in (texts[0], *texts[1 + gone :]))


def share(sizes: Sequence[int], tokens: int) -> int:
    """Return what one may have at most so that all have no more than `tokens` together."""
    left = tokens
    for number, size in enumerate(sorted(sizes)):
        most = left // (len(sizes) - number)
        if size > most:
            return most
        left -= size
    return max(sizes)


def shortened(text: str, tokens: int) -> str:
    """Return a text with at most so many tokens, at the cost of its longest paragraphs.

    What a person says of something that they paste stands in a paragraph of its own, and stays.
    """
    if tokens_in_text(text) <= tokens:
        return text
    paragraphs = text.split(_PARAGRAPH)
    most = share([tokens_in_text(part) + 1 for part in paragraphs], tokens) - 1
    if most < LEAST:
        return without_middle(text, tokens)
    return without_middle(_PARAGRAPH.join(without_middle(part, most) for part in paragraphs), tokens)


def without_middle(text: str, tokens: int) -> str:
    """Return a text without its middle where it has more tokens than that; what is returned has no more."""
    size = tokens_in_text(text)
    half = len(text) * tokens // (2 * size) if size > tokens else len(text)
    shown = text
    while tokens_in_text(shown) > tokens and half:
        half = half * 9 // 10
        shown = f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[len(text) - half :]}"
    return shown
