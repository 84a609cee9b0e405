"""The permission matcher of one command line: read once, then held against rules."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from .analysis import Analysis
from .hidden import MOST_PARTS
from .parts import BashPart, matches, with_heads
from .places import Place
from .plain import PLAIN_LINE
from .reader import Reader
from .repository import runs_nothing
from .syntax import Unreadable

if TYPE_CHECKING:
    from toolpost.permissions import Behavior, CommandPart

MOST_CHARS = 10_000
_READ_AT_ALL = 200_000
# No character here means anything to the shell, so that splitting at blanks is all that it would do.
_PLAIN = re.compile(r"[\n\t -~]*")


class BashMatcher:
    """What a line would do, by `parts`, and why it is not understood as a whole, by `doubt`.

    `again` reads the line a second time, in another way, and says where the two differ: done when somebody asks.
    """

    def __init__(self, parts: Sequence[CommandPart], doubt: str = "", again: Callable[[], str] | None = None) -> None:
        self.parts = parts
        self._doubt = doubt
        self._again = again

    @cached_property
    def doubt(self) -> str:
        """Why the line is not understood as a whole; empty if it is."""
        return self._doubt or (self._again() if self._again is not None else "")

    def matches(self, part: CommandPart, specifier: str, behavior: Behavior) -> bool:
        """Whether a rule's specifier covers the part; deny and ask match more widely than allow."""
        return matches(part, specifier, behavior)

    @property
    def read_only(self) -> bool:
        """Whether the whole line only reads."""
        return bool(self.parts) and all(part.read_only for part in self.parts) and not self.doubt


def understand(line: str, *, cwd: Path, home: Path, check_git: bool = True) -> BashMatcher:
    """Read a command line. Never raises and starts nothing."""
    plain_git = not check_git or "git" not in line or runs_nothing(cwd)
    analysis = Analysis(line, folder=str(cwd), home=str(home), git_is_plain=plain_git)
    doubt = _surface(line)
    reader = Reader(line[:_READ_AT_ALL])
    try:
        script = reader.script()
        analysis.script(script, analysis.place)
        analysis.late(reader.found)
        if not script.items and line.strip():
            analysis.add(BashPart(line.strip(), read_only=True))  # Nothing but remarks.
    except Unreadable as error:
        doubt = doubt or f"it can't be read as a whole: {error}"
        analysis.salvage(reader)
    except RecursionError:
        doubt = doubt or "it is nested too deep"
        analysis.salvage(reader)
    if len(analysis.parts) > MOST_PARTS:
        doubt = doubt or f"it would start more than {MOST_PARTS} programs"
    if not doubt and not analysis.parts and not line.strip():
        doubt = "it is empty"
    again = None if doubt or PLAIN_LINE.fullmatch(line) else partial(_read_again, line, reader)
    if any(part.is_open for part in analysis.parts):
        analysis.parts = _with_suspects(analysis.parts, line, reader, analysis.place)
    return BashMatcher([with_heads(part) for part in analysis.parts], doubt, again)


def _with_suspects(parts: Sequence[BashPart], line: str, reader: Reader, place: Place) -> list[BashPart]:
    """The parts; of what only running it would explain, any may open what the line names somewhere."""
    from .suspects import named_in

    named = named_in(line, reader.found, place)
    if named is None:
        return [replace(part, unseen=frozenset({"reads", "writes"})) if part.is_open else part for part in parts]
    return [replace(part, perhaps=(*part.perhaps, *named)) if part.is_open else part for part in parts]


def _read_again(line: str, reader: Reader) -> str:
    from .second_reading import disagreement

    return disagreement(line, reader)


def _surface(line: str) -> str:
    """What is wrong with the text before it is read."""
    if len(line) > MOST_CHARS:
        return f"it is longer than {MOST_CHARS} characters"
    if _PLAIN.fullmatch(line):
        return ""
    for char in line:
        control = (char < " " and char not in "\n\t") or char == "\x7f"
        if control or (char > "~" and unicodedata.category(char) in ("Cf", "Cc", "Cs", "Zl", "Zp")):
            return f"it holds the invisible character U+{ord(char):04X}"
    return ""
