"""The small typed tree of a command line: what the reader makes and the analysis walks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias


class Unreadable(Exception):
    """Raised when a line has a shape that the reader does not vouch for."""


class Text(NamedTuple):
    """Literal characters after quote removal."""

    text: str
    quoted: bool = False


class Var(NamedTuple):
    """A parameter whose value is not text of the line; `scripts` are run to work it out."""

    name: str
    quoted: bool = False
    scripts: tuple[Script, ...] = ()


class Sub(NamedTuple):
    """A command or process substitution."""

    script: Script
    quoted: bool = False
    kind: Literal["$(", "`", "<(", ">("] = "$("


class Strange(NamedTuple):
    """An expansion that may evaluate more than it shows: nothing that holds one is vouched for.

    `runs` says that what it expands to is read as shell text. Where all of `names` hold numbers it is one.
    """

    why: str
    quoted: bool = False
    scripts: tuple[Script, ...] = ()
    runs: bool = False
    names: tuple[str, ...] = ()


Piece: TypeAlias = Text | Var | Sub | Strange


class Word(NamedTuple):
    """One shell word before expansion; `source` is the word as it was written."""

    pieces: tuple[Piece, ...]
    source: str = ""
    joined: bool = False
    """A line continuation stood inside of it."""

    @property
    def bare(self) -> str | None:
        """The text of a word without any quotes or expansions: only such a word can be a keyword."""
        if len(self.pieces) == 1 and isinstance(self.pieces[0], Text) and not self.pieces[0].quoted:
            return self.pieces[0].text
        return None


class Assign(NamedTuple):
    """`name=value` in front of a command or alone; `simple` is false for arrays and `+=`, `items` are a new array's."""

    name: str
    value: Word
    simple: bool = True
    items: tuple[Word, ...] | None = None


@dataclass(frozen=True)
class Redirect:
    """A redirection to or from `target`; of a here-document `body` is filled in once its line has ended."""

    op: str
    target: Word
    body: list[Word] = field(default_factory=list, compare=False)


class Simple(NamedTuple):
    """Assignments, words and redirections of one simple command; `source` is the command as it was written.

    `plain` says that it has nothing but words, each of which is text or one variable in quotes.
    """

    assigns: tuple[Assign, ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]
    source: str
    plain: bool = False


class Compound(NamedTuple):
    """Everything with a body: groups, subshells, loops, branches, functions, `[[ ]]`, `(( ))`."""

    kind: str
    blocks: tuple[Script, ...] = ()
    words: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    name: str = ""


Command: TypeAlias = Simple | Compound


class Pipeline(NamedTuple):
    """Commands joined by pipes; `joiner` is what stands in front: empty, `;`, `&`, `&&` or `||`."""

    joiner: str
    stages: tuple[Command, ...]
    background: bool = False


class Script(NamedTuple):
    """A list of pipelines in the order of the text."""

    items: tuple[Pipeline, ...]


def scripts_of(piece: Piece) -> tuple[Script, ...]:
    """What runs to make this piece."""
    if isinstance(piece, Sub):
        return (piece.script,)
    return () if isinstance(piece, Text) else piece.scripts


def and_or_lists(items: Sequence[Pipeline]) -> list[list[Pipeline]]:
    """The pipelines of a list, those together that are joined by && and ||."""
    groups: list[list[Pipeline]] = []
    for item in items:
        if item.joiner in ("&&", "||"):
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def merged(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Join neighbours of plain text with the same quoting, so that keywords and names come out whole."""
    joined: list[Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if isinstance(piece, Text) and isinstance(last, Text) and piece.quoted == last.quoted:
            joined[-1] = Text(last.text + piece.text, piece.quoted)
        else:
            joined.append(piece)
    return tuple(joined)


def words(text: str) -> frozenset[str]:
    """The words of a text, for lists of names that are easier read without quotes."""
    return frozenset(text.split())


def is_own_variable(name: str) -> bool:
    """Whether a variable of this name belongs to the line alone: no shell and no program gives it a meaning."""
    if name in _ORDINARY:
        return True
    return name.islower() and not name.endswith("_proxy") and not name.startswith(("npm_", "_"))


_ORDINARY = words("""
    A B C D E F G H I J K L M N O P Q R S T U V W X Y Z DIR DIRS FILE FILES NAME NAMES COUNT TOTAL SUM SRC DST DEST OUT
    INPUT RESULT PATTERN QUERY BRANCH COMMIT SHA TAG LINE START END ITEM ITEMS KEY VALUE VAL MSG MESSAGE TEXT ROOT REPO PKG
    FOO BAR BAZ
""")
"""Names in capitals that people give to variables of their own."""
