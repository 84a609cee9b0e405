"""Makes command lines of others: pieces moved, doubled and dropped, and what the shell gives a meaning put in between."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

from tests.security.fuzz.grammar import SHAPES

_BLANKS = re.compile(r"([ \n]+)")

Change = Callable[[str], str]


class Mutation:
    """Changes given lines; the same seed makes the same lines."""

    def __init__(self, random: Random, lines: Sequence[str]) -> None:
        self.random = random
        self.lines = lines
        self._changes: dict[Change, int] = {
            self._insert: 3,
            self._word: 2,
            self._drop: 1,
            self._double: 1,
            self._swap: 1,
            self._splice: 1,
            self._append: 1,
            self._quote: 1,
            self._nest: 1,
        }

    def line(self, start: str | None = None) -> str:
        """A changed line: of `start`, or of any that were given."""
        text = self.random.choice(self.lines) if start is None else start
        for _ in range(self.random.choice((1, 1, 1, 2, 2, 3))):
            [change] = self.random.choices(list(self._changes), list(self._changes.values()))
            text = change(text)
        return text[:2000]

    def _cut(self, text: str) -> tuple[str, str, str]:
        start = self.random.randint(0, len(text))
        end = min(len(text), start + self.random.choice((1, 1, 2, 3, 5, 8, 20)))
        return text[:start], text[start:end], text[end:]

    def _insert(self, text: str) -> str:
        before, piece, after = self._cut(text)
        return before + self.random.choice(SHAPES["tokens"]) + piece + after

    def _drop(self, text: str) -> str:
        before, _, after = self._cut(text)
        return before + after

    def _double(self, text: str) -> str:
        before, piece, after = self._cut(text)
        return before + piece + piece + after

    def _swap(self, text: str) -> str:
        before, piece, after = self._cut(text)
        return before + after[: len(piece)] + piece + after[len(piece) :]

    def _splice(self, text: str) -> str:
        before, _, after = self._cut(text)
        _, piece, rest = self._cut(self.random.choice(self.lines))
        return before + piece + rest[: self.random.randint(0, 12)] + after

    def _word(self, text: str) -> str:
        words = _BLANKS.split(text)
        at = self.random.randrange(0, len(words), 2)
        new = self.random.choice(SHAPES[self.random.choice(("words", "options", "payloads"))])
        words[at : at + self.random.randint(0, 1)] = [new, " "] if self.random.random() < 0.5 else [new]
        return "".join(words)

    def _append(self, text: str) -> str:
        return (
            text
            + self.random.choice(("; ", "\n", " | ", " && ", " ", "&", "|| "))
            + self.random.choice(SHAPES["payloads"])
        )

    def _quote(self, text: str) -> str:
        before, piece, after = self._cut(text)
        quote = self.random.choice(("'", '"', "\\"))
        return before + quote + piece + quote.strip("\\") + after

    def _nest(self, text: str) -> str:
        return self.random.choice(SHAPES["nestings"]).replace("%s", text)
