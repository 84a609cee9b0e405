"""The files that a line names anywhere: of which a command that only running it would explain may open any."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from .arguments import WILD, Argument, arguments
from .files import ANY_NAME, named_by
from .parts import WITH_OPTIONS
from .pathspecs import CLASSES, named
from .places import Place
from .rough import alternatives, roughly
from .syntax import Simple, Word

MOST_NAMES: Final = 400
"""How many names a line may hold before it is not looked through for them any more."""
_MOST_FOLDERS = 6
_FINDS = re.compile(r"\s-i?(?:name|path|wholename)\s")
# A command of sed and its file.
_IN_SCRIPT = re.compile(r"[\d$]*[rRwW](.*[./].*)")
# Nothing of such a test goes on to what follows it.
_TESTED = re.compile(r"(?<![\w./-])(?:\[\[?|test)\s+(?:!\s+)?-[a-z]\s+[\w./-]+(?:\s+\]\]?)?(?=[\s;&|)]|$)")
_GOES_HOME = re.compile(r"~|(?<![\w-])cd\s*(?:[;&|)\n]|$)")
_GOES = re.compile(r"(?<![\w-])(?:cd|pushd|-C|--chdir=?)\s*([^\s;&|)]*)")
_BETWEEN = re.compile(r"[\s'\"`$(){}<>|&;,=:@\\]+")
# What follows these is no file, whatever has its name.
_SUBCOMMAND = re.compile(rf"(?<![\w./-])(?:git|{'|'.join(sorted(WITH_OPTIONS))})\s+[\w-]+(?=\s|$)")


def named_in(line: str, found: Iterable[Simple], place: Place) -> list[Path] | None:
    """The files that a line names, whatever it does with the names; None where there are too many."""
    line = line if "$_" in line else _TESTED.sub(" ", line)
    begun = Place(place.start, {name: place.values.get(name) for name in ("HOME", "PWD")}, start=place.start)
    home = begun.values["HOME"] or "/"
    line = CLASSES.sub("?", line)
    rough = roughly(line, begun.values)
    other = roughly(line, begun.values, in_order=True) if "${" in line else ""
    texts = dict.fromkeys(
        (*_expanded(found, begun), *_pieces(line), *_pieces(CLASSES.sub("?", rough or "")), *_pieces(other or ""))
    )
    texts.pop("", None)
    if rough is None or len(texts) > MOST_NAMES:
        return None
    names = [_name(home + text[1:] if text.startswith("~/") else text) for text in texts]
    # What comes before a slash may be a variable that is not known.
    names += [_name(text.lstrip("/")) for text in texts if text.startswith("/") and not os.path.lexists(text)]
    # What comes before `..` may be made by the line.
    names += [_name(os.path.normpath(text)) for text in texts if "/../" in text]
    paths = [path for name in names for path in named_by(name, begun)]
    if _FINDS.search(line):
        paths += (
            Path(found) for start in place.start for name in names if name.wild for found in _all(start, name.text)
        )
    if "git" in line:
        paths += [path for name in names if name.wild for path in named(name, place.start) or ()]
    for folder in _folders(texts, rough, place, home):
        paths += _lying_in(folder, names)
    return list(dict.fromkeys(paths))


def _all(folder: str, pattern: str) -> Iterator[str]:
    """What is there of a pattern that passes over no hidden name."""
    found = glob.iglob(os.path.join(folder, pattern), include_hidden=True)  # noqa: PTH118, PTH207 - Path.glob wants relative ones
    return islice(found, MOST_NAMES)


def _pieces(text: str) -> Iterator[str]:
    words = _SUBCOMMAND.sub(" ", text).split()
    for word in words:
        for one in alternatives(word) if "{" in word else (word,):
            for piece in _BETWEEN.split(one):
                yield piece
                if script := _IN_SCRIPT.match(piece):
                    yield script[1]


def _name(text: str) -> Argument:
    return Argument(text, wild=WILD.search(text) is not None, pattern=text)


def _folders(texts: Iterable[str], rough: str, place: Place, home: str) -> Sequence[str]:
    """The folders beside the first that the shell may be in: those that are named and there, or that it goes to."""
    gone_to = [text for text in _GOES.findall(rough) if text]
    found = [_at(start, text) for start in place.start for text in gone_to]
    named = (_at(start, text) for start in place.start for text in texts)
    found += (folder for folder in named if _is_folder(folder))
    found += [home] if _GOES_HOME.search(rough) else []
    return [folder for folder in dict.fromkeys(found) if folder not in place.start][:_MOST_FOLDERS]


def _expanded(found: Iterable[Simple], place: Place) -> Iterator[str]:
    """The words of commands without their quotes, and what is sure of those that are not wholly known."""
    for simple in found:
        for word in _words(simple):
            if len(word.pieces) != 1 or word.bare is None:
                yield from (arg.text if arg.known else arg.sure for arg in arguments(word, place.values))


def _words(simple: Simple) -> Iterator[Word]:
    yield from simple.words
    for assign in simple.assigns:
        yield from assign.items or (assign.value,)
    for redirect in simple.redirects:
        yield redirect.target


def _lying_in(folder: str, names: Sequence[Argument]) -> Iterator[Path]:
    """What of these names is there in a folder."""
    place = Place((folder,), {})
    # A folder that the line makes is not there yet, and `..` leads out of it all the same.
    climbing = (_name(_at(folder, name.text)) for name in names if ".." in name.text)
    yield from (path for name in climbing for path in named_by(name, place))
    for name in names:
        paths = named_by(name, place) if not name.text.startswith("/") else ()
        yield from (path for path in paths if name.wild or path.name == ANY_NAME or os.path.lexists(path))


def _at(folder: str, text: str) -> str:
    return os.path.normpath(os.path.join(folder, text))  # noqa: PTH118 - a Path would keep `..`, and most are no paths


def _is_folder(path: str) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - it fails on no name, however long
