"""What commands that remove or change files do to those that another one finds or names for them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import Final, NamedTuple

from .arguments import Argument
from .parts import BashPart
from .places import Place
from .record import Effects
from .special import FIND_RUNS
from .syntax import words

_REMOVE: Final = words("rm rmdir unlink shred truncate")
_CHANGE: Final = words("chmod chown chgrp chattr setfacl mv")
_NAMES: Final = words("echo printf ls")
_FILL_IN: Final = words("xargs parallel fd fdfind")
_FINDS: Final = words("find fd fdfind")
# With no other words than these an expression of find finds all that lies there.
_FINDS_ALL: Final = words("-L -H -P -type -maxdepth -mindepth -print -print0 -depth -d -xdev -mount -follow -o -or -a")


class Handed(NamedTuple):
    """The files that a command gets to know of while it runs, as far as changing them all would change a place as a whole.

    `named` stand in the line. `places` are folders in which some are found, or `wholly` all, `above` those of them that hold
    the home folder, or more than the folder that the line begins in.
    """

    named: tuple[Path, ...] = ()
    places: tuple[Path, ...] = ()
    above: tuple[Path, ...] = ()
    wholly: bool = False

    def given(self, part: BashPart) -> BashPart:
        """The part, which is given them, with what that makes it write."""
        acts = _acts_on_unseen(part) if self.named or self.places else ""
        below = tuple(path / "**" for path in self.named) if acts == "removes" else ()
        writes = (*self.named, *below, *self.changed(acts)) if acts else ()
        return replace(part, read_only=False, writes=(*part.writes, *writes)) if writes else part

    def changed(self, acts: str) -> tuple[Path, ...]:
        """The places that are changed as a whole; who `removes` all that lies there changes each."""
        return self.places if self.wholly and acts == "removes" else self.above


def named(texts: Sequence[Argument], place: Place) -> Handed:
    """What is handed on by a command that prints these arguments."""
    files = (path for arg in texts if arg.text and not arg.text.startswith("-") for path in _paths(arg, place))
    return Handed(named=tuple(files))


def written(text: str, place: Place) -> Handed:
    """What is handed on by a text on the standard input."""
    return named([Argument(word.strip("'\"")) for word in text.replace("\0", " ").split()], place)


def prints_files(program: str | None) -> bool:
    """Whether a program of this name prints files that it is given or finds."""
    return program is not None and program.rpartition("/")[2] in _NAMES | _FINDS


def printed(args: Sequence[Argument], place: Place, before: Handed) -> Handed:
    """What a command in a pipe hands on; one that prints no files of its own hands on some of what it got itself."""
    program = args[0].text.rpartition("/")[2] if args else ""
    if program in _NAMES:
        return named(args[1:], place)
    if program in _FINDS:
        return found(program, args[1:], _starts(program, args[1:]), place)
    return before


def found(program: str, args: Sequence[Argument], starts: Sequence[Argument], place: Place) -> Handed:
    """What a search hands on that begins there: everything, or, where that is not sure, some of what lies there."""
    paths = tuple(path for start in starts or (Argument("."),) for path in _paths(start, place))
    above = tuple(path for path in paths if _holds_more(path, place))
    return Handed(places=paths, above=above, wholly=program == "find" and _finds_all(args))


def started_by(
    program: str, args: Sequence[Argument], effects: Effects, inside: Sequence[BashPart], place: Place
) -> list[Path]:
    """The places whose files a search hands to what it starts, if that removes or changes them."""
    acting = {"find": _acts_on_unseen, "fd": _acts, "fdfind": _acts}.get(program)
    acts = max(map(acting, inside), default="") if acting else ""
    starts = [arg for kind, arg in effects.files if kind == "list"]
    return list(found(program, args, starts, place).changed(acts)) if acts else []


def taken_whole(parts: Sequence[BashPart], place: Place) -> list[Path]:
    """What commands in code would take with all that a place holds: as text alone that is no reason to refuse less."""
    gone = (path for part in parts for path in part.writes if path.name != "**")
    return [path for path in gone if str(path) in place.start or _holds_more(path, place)]


def _acts_on_unseen(part: BashPart) -> str:
    """Whether it `removes` or `changes` files that only running it would name; empty if it does not."""
    if "writes" in part.unseen and (acts := _acts(part)):
        return acts
    fills_in = _program(part) in _FILL_IN or part.dynamic
    inside = (_acts(inner) if fills_in else _acts_on_unseen(inner) for certain, inner in part.inside if certain)
    return max(inside, default="")


def _acts(part: BashPart) -> str:
    program = _program(part)
    if program in _REMOVE | _CHANGE:
        return "removes" if program in _REMOVE else "changes"
    return max((_acts(inner) for certain, inner in part.inside if certain), default="")


def _program(part: BashPart) -> str:
    return part.args[0].text.rpartition("/")[2] if part.args else ""


def _starts(program: str, args: Sequence[Argument]) -> list[Argument]:
    if program != "find":
        return [arg for arg in args if not arg.text.startswith("-")][1:]
    begun = dropwhile(lambda arg: arg.text in ("-L", "-H", "-P"), args)
    return list(takewhile(lambda arg: arg.text[:1] not in ("-", "(", "!"), begun))


def _finds_all(args: Sequence[Argument]) -> bool:
    ends = (at for at, arg in enumerate(args) if arg.text in FIND_RUNS)
    expression = args[: next(ends, len(args))]
    return all(arg.text in _FINDS_ALL for arg in expression if arg.text[:1] in ("-", "(", "!"))


def _paths(arg: Argument, place: Place) -> list[Path]:
    wild = arg if arg.wild or not set(arg.text) & set("*?[") else arg._replace(wild=True, pattern=arg.text)
    return place.paths(wild) or place.guesses(wild)


def _holds_more(path: Path, place: Place) -> bool:
    """Whether the home folder lies there, or more than the folder that the line began in."""
    real, home = Path(os.path.realpath(path)), place.values.get("HOME")
    begun = any(real != Path(start) and Path(start).is_relative_to(real) for start in place.start)
    return begun or (bool(home) and Path(home or "/").is_relative_to(real))
