"""Makes command lines from the shapes that the analysis knows, and from some that it must refuse."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Final

SHAPES: Final[Mapping[str, Sequence[str]]] = json.loads(Path(__file__).with_name("shapes.json").read_text("utf-8"))

Make = Callable[[int], str]


class Grammar:
    """Makes one line after another; the same seed makes the same lines."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def line(self) -> str:
        """One command line."""
        return self._list(3)

    def steps(self) -> str:
        """Steps that set variables, define functions, move and read, of which each alone may do no harm."""
        text = self._step()
        for _ in range(self.random.randint(1, 5)):
            text += self.random.choice(("; ", "; ", "\n", " && ", " || ", " | ", " & ")) + self._step()
        return self._pick("around_steps").replace("%s", text) if self.random.random() < 0.3 else text

    def _step(self) -> str:
        step = self._pick("steps")
        return self._pick("around_steps").replace("%s", step) if self.random.random() < 0.4 else step

    def _pick(self, kind: str) -> str:
        return self.random.choice(SHAPES[kind])

    def _list(self, depth: int) -> str:
        text = self._command(depth)
        while self.random.random() < 0.35:
            text += self._pick("joiners") + self._command(depth)
        return text

    def _command(self, depth: int) -> str:
        shapes: list[tuple[int, Make]] = [(12, self._simple)]
        if depth > 0:
            shapes += [(6, self._wrapped), (4, self._compound), (2, self._document)]
        makers, weights = zip(*((make, weight) for weight, make in shapes), strict=True)
        make: Make = self.random.choices(makers, weights)[0]
        return make(depth - 1)

    def _simple(self, depth: int) -> str:
        chance, place = self.random.random, self.random.randint
        words = self._pick("harmless" if chance() < 0.8 else "payloads").split(" ")
        if chance() < 0.15:
            words.insert(0, self._pick("assignments"))
        if chance() < 0.2:
            words.insert(place(1, len(words)), self._pick("options"))
        while chance() < 0.4:
            words.insert(place(min(1, len(words)), len(words)), self._word(depth))
        if chance() < 0.15:
            words.insert(place(0, len(words)), self._pick("redirections"))
        return " ".join(words)

    def _word(self, depth: int) -> str:
        if depth > 0 and self.random.random() < 0.35:
            return self._pick("substitutions").format(self._command(depth - 1))
        word = self._pick("words")
        return word + self._pick("words") if self.random.random() < 0.15 else word

    def _wrapped(self, depth: int) -> str:
        inner = self._command(depth) if self.random.random() < 0.6 else self._pick("payloads")
        return self._pick("wrappers").format(inner)

    def _document(self, depth: int) -> str:
        opening, closing = self._pick("here_documents").split("|")
        body = self._pick("bodies").format(self._command(depth))
        reader = self.random.choice(("cat", "cat", "tr a b", "bash", "sort", "grep a", self._simple(depth)))
        rest = self.random.choice(("", "", " | ", "; ", " && "))
        after = self.random.choice(("", "\n"))
        line = f"{reader} {opening}{rest}{self._simple(depth) if rest else ''}"
        return f"{line}\n{body}\n{closing}{after}{self._command(depth) if after else ''}"

    def _compound(self, depth: int) -> str:
        makers: Mapping[str, Make] = {"A": self._list, "B": self._command, "W": self._word}
        shape = self._pick("compounds")
        return "".join(makers[char](depth) if char in makers else char for char in shape)
