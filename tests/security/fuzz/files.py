"""Makes lines that open one file, which a rule forbids: ways to open it, times ways to name it, times places to do so."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.security.fuzz.world import World

SHAPES: Final[Mapping[str, Any]] = json.loads(Path(__file__).with_name("file_shapes.json").read_text("utf-8"))


@dataclass(frozen=True)
class Target:
    """A file that is forbidden, and a link to it, from the folder that its `names` begin in; `kinds` are what to try."""

    path: str
    link: str
    kinds: Sequence[str]
    names: str = "places"

    @property
    def folder(self) -> Target:
        """The folder that it lies in."""
        above, link = self.path.rpartition("/")[0], self.link.rpartition("/")[0]
        return Target(above or ".", link or ".", self.kinds, self.names)


_CHANGED = Target("config/app.ini", "to/lc/app.ini", ("writes",))
_TARGETS: Final = (
    Target(".env", "l.txt", ("reads", "writes")),
    Target("secrets/k", "to/ls/k", ("reads", "reads", "writes")),
    Target(".ssh/id", ".s/id", ("reads",), "home"),
    _CHANGED,
    _CHANGED,
)
_PLAIN: Final = {"places": "@P", "home": "~/@P"}


class FileLines:
    """Makes one line after another; the same seed makes the same lines."""

    def __init__(self, random: Random, world: World) -> None:
        self.random = random
        self._bases = {"places": str(world.project), "home": str(world.home)}

    def line(self) -> str:
        """One command line."""
        target = self.random.choice(_TARGETS)
        template = self._pick(self.random.choice(target.kinds))
        while "@DIR" in template and target.folder.path == ".":
            template = self._pick(self.random.choice(target.kinds))
        named = target if "@FILE" in template else target.folder
        before, word = self._named(named)
        setup, carried = self._pair("carriers")
        around, there = self._pair("around")
        before, word = before + setup.replace("@W", word), carried.replace("@W", word)
        there = there.replace("@W", word)
        command = template.replace("@FILE", there).replace("@DIR", there if named != target else target.folder.path)
        return before + around.replace("@C", command).replace("@W", word)

    def _pick(self, kind: str) -> str:
        return str(self.random.choice(SHAPES[kind]))

    def _pair(self, kind: str) -> tuple[str, str]:
        first, second = self.random.choice(SHAPES[kind])
        return first, second

    def _named(self, target: Target) -> tuple[str, str]:
        """What comes before the command, and the word that then names the file."""
        before, word = self._pair(target.names) if self.random.random() < 0.5 else ("", _PLAIN[target.names])
        above, _, name = target.path.rpartition("/")
        marks = {
            "@HERE": self._bases[target.names],
            "@P": self._disguised(target.path),
            "@B": self._disguised(name),
            "@D": above or ".",
            "@L": target.link,
        }
        for mark, text in marks.items():
            before, word = before.replace(mark, text), word.replace(mark, text)
        return before, word

    def _disguised(self, text: str) -> str:
        """The same name, in which some letters are written in other ways that come to them."""
        while self.random.random() < 0.4:
            at = self.random.randrange(len(text))
            letter, above = text[at], text[:at].rpartition("/")[2]
            shape = self._pick("slashes" if letter == "/" else "letters")
            text = text[:at] + shape.format(above if letter == "/" else letter, ord(letter)) + text[at + 1 :]
        return text
