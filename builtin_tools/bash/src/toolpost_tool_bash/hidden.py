"""Finds what may run without being seen: inside of other programs, in text that is evaluated, in variables."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from .arguments import Argument, assigned_text
from .carriers import START_FILES, assigned, carries, may_carry
from .effects import effects_of
from .files import files_of
from .parts import BashPart, harmless
from .places import Place
from .reader import Reader
from .syntax import Assign, Script, Simple, Text, Unreadable, Word
from .wrappers import GUARDED, SHELLS, TRANSPARENT, Inside

MOST_PARTS: Final = 50
MOST_DEPTH: Final = 12
_MOST_ASIDE = 150
# Nobody but the shell itself runs these.
_BUILTINS: Final = frozenset({"alias", "builtin", "command", "eval", "exec", "trap"})
# What changes which names a wildcard matches; a function may do so behind the place where it is defined.
_GLOBS: Final = re.compile(r"(?<![\w-])shopt\s+-|GLOBIGNORE|BASHOPTS=|\s-O\s*['\"]?\w*glob")
_RUN_OTHERS: Final = SHELLS | GUARDED | TRANSPARENT.keys() | {"eval", "git"}
Vector: TypeAlias = tuple[Argument, ...]


class Hidden:
    """Collects the parts of one text; what works out commands and walks whole lines gives it `command` and `script`."""

    def __init__(self, line: str, *, folder: str, home: str, git_is_plain: bool = True) -> None:
        self.line = line
        self.calculates = "((" in line
        self.parts: list[BashPart] = []
        self.start = (folder,)
        values: dict[str, str | None] = {"HOME": home, "PWD": folder}
        self.place = Place(self.start, values, start=self.start, globs_vary=bool(_GLOBS.search(line)))
        self.git_is_plain = git_is_plain
        self.depth = 0
        self.defining: list[str] = []
        self.evaluates = False
        self.tails_listed = False
        self.listed: list[Word] = []
        self._aside_left = [_MOST_ASIDE]

    def script(self, script: Script, place: Place) -> None:
        """Walk a list of pipelines."""
        raise NotImplementedError

    def command(self, args: Vector, place: Place, *, text: str = "") -> None:
        """List what one command with its arguments comes to."""
        raise NotImplementedError

    def add(self, part: BashPart) -> None:
        """Note one more part."""
        self.parts.append(part)

    def carried(self, assign: Assign, place: Place) -> None:
        """List what a variable holds for some program to run."""
        if not may_carry(assign.name):
            return
        words = (assign.value,) if assign.simple else assign.items or ()
        text = "; ".join(assigned_text(word, place.values) or "" for word in words)
        carried = "" if harmless(assign.name, text) else assigned(assign.name, text)
        inside = [(True, part) for part in self.in_text(carried, place)] if carried else []
        if inside or assign.name in START_FILES:
            why = f"the variable {assign.name} names what runs"
            starts = assign.name in START_FILES
            self.add(BashPart(f"{assign.name}={text}", doubt=why, barred=why, inside=tuple(inside), dynamic=starts))

    def late(self, found: Sequence[Simple]) -> None:
        """List what stands in quotes and runs where the line evaluates a variable that holds it."""
        if not self.evaluates:
            return
        for word in (*self.listed, *(word for simple in found for word in _words_of(simple))):
            text = "".join(piece.text for piece in word.pieces if isinstance(piece, Text))
            if inside := tuple((False, part) for _, part in self.embedded(text, self.place)):
                why = "it may be evaluated further on"
                self.add(BashPart(word.source or text, doubt=why, barred=why, inside=inside))

    def shadow(self, inside: Inside, place: Place) -> list[tuple[bool, BashPart]]:
        """What may run inside of a program: never a reason to allow, always one to deny."""
        found: list[tuple[bool, BashPart]] = []
        listed = self.tails_listed and inside.tails
        line = _Shown(inside.suffixes[0][1]) if inside.tails and inside.suffixes and not listed else None
        for at, (certain, suffix) in enumerate(() if listed else inside.suffixes[:MOST_PARTS]):
            if not suffix:
                continue
            head = suffix[0].text.rpartition("/")[2]
            text, names = line.tail(suffix) if line else (shown(suffix), argv(suffix))
            runs = certain and head not in _BUILTINS and (head in _RUN_OTHERS or carries(head))
            if runs and (aside := self._aside(suffix, place, text, listed=inside.tails and certain)):
                found.extend((True, part) for part in aside)
                continue
            dynamic = certain and at == 0 and not (suffix[0].known or suffix[0].text)
            part = BashPart(text, names, args=suffix, dynamic=dynamic)
            effects = effects_of(head, list(suffix[1:])) if certain and suffix[0].plain else None
            # What an unknown program may open is noted with the one that starts it.
            if effects is not None and effects.known:
                files = files_of(effects, place)
                part = replace(part, reads=files.reads, writes=files.writes, unseen=files.unseen)
            found.append((certain, part))
        found.extend((True, part) for text in inside.scripts for part in self.in_text(text, place))
        for text in inside.possible:
            # Most text in code is no command: of what can't be read as one, only what can be counts.
            plain = "$(" not in text and "`" not in text
            parts = self.in_text(text, place)
            found.extend((False, replace(part, dynamic=part.dynamic and not plain)) for part in parts)
        return found

    def _aside(self, args: Vector, place: Place, text: str, *, listed: bool) -> list[BashPart]:
        """What a command inside of another comes to; `listed` says that whatever follows in it is looked at in any case."""
        inner = self._another("", deeper=4)
        inner.tails_listed = listed
        if inner.depth > MOST_DEPTH * 4:
            return []
        self._count_aside()
        inner.command(args, place.elsewhere(), text=text)
        return inner.parts

    def _count_aside(self) -> None:
        self._aside_left[0] -= 1
        if self._aside_left[0] < 0:
            raise Unreadable("it has too many programs inside of others")

    def in_text(self, text: str, place: Place) -> list[BashPart]:
        """The parts of a text that something hands to a shell, or may; of one that can't be read, what can be."""
        self._count_aside()
        inner = self._another(text, deeper=4)
        reader = Reader(text)
        try:
            inner.script(reader.script(), place.elsewhere())
            inner.late(reader.found)
        except (Unreadable, RecursionError):
            inner.salvage(reader)
            # It may be split at blanks by somebody who is no shell.
            words = tuple(Argument(word) for piece in text.split()[:MOST_PARTS] if (word := piece.strip("'\"")))
            inner.parts.extend([BashPart(shown(words), argv(words), args=words)] if words else [])
            inner.add(BashPart(text, doubt="it can't be read as a whole", dynamic=True))
        return inner.parts

    def salvage(self, reader: Reader) -> None:
        """Of a text that can't be read, list what can: bash runs the first lines before it meets a mistake further on."""
        raise NotImplementedError

    def embedded(self, text: str, place: Place) -> list[tuple[bool, BashPart]]:
        """Substitutions in an operand that a builtin evaluates though it was quoted."""
        if "$(" not in text and "`" not in text:
            return []
        inner = self._another(text, deeper=4)
        try:
            for script in Reader("").embedded(text):
                inner.script(script, place.elsewhere())
        except (Unreadable, RecursionError):
            return [(True, BashPart(text, doubt="it is evaluated and can't be read", dynamic=True))]
        return [(True, part) for part in inner.parts]

    def _another(self, text: str, *, deeper: int) -> Hidden:
        inner = type(self)(text, folder="", home="", git_is_plain=self.git_is_plain)
        inner.start, inner.depth, inner._aside_left = self.start, self.depth + deeper, self._aside_left
        return inner


def _words_of(simple: Simple) -> Iterator[Word]:
    yield from simple.words
    yield from (assign.value for assign in simple.assigns)
    for redirect in simple.redirects:
        yield from (redirect.target, *redirect.body)


def argv(args: Sequence[Argument]) -> tuple[str, ...]:
    """The arguments as rules and people see them; what is not known stands there as it was written."""
    return tuple(arg.text if arg.known else arg.source or "?" for arg in args)


def shown(args: Sequence[Argument]) -> str:
    """The arguments as one line."""
    return " ".join(_quoted(arg) for arg in args)


def _quoted(arg: Argument) -> str:
    return shlex.quote(arg.text) if arg.plain else arg.source or "?"


class _Shown:
    """Arguments as people see them, worked out once for all of their tails."""

    def __init__(self, args: Vector) -> None:
        self._quoted = [_quoted(arg) for arg in args]
        self._argv = argv(args)

    def tail(self, args: Vector) -> tuple[str, tuple[str, ...]]:
        """The last ones, as a line and one by one."""
        start = len(self._argv) - len(args)
        return " ".join(self._quoted[start:]), self._argv[start:]
