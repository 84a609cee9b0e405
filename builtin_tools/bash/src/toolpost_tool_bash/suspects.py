"""The files that a line names anywhere: of which a command that only running it would explain may open any."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from .arguments import Argument, arguments
from .files import named_by
from .parts import WITH_OPTIONS, BashPart
from .places import Place
from .syntax import Simple, Word

MOST_NAMES: Final = 400
"""How many names a line may hold before it is not looked through for them any more."""
_MOST_FOLDERS = 4
_BETWEEN = re.compile(r"[\s'\"`$(){}<>|&;,=:@\\]+")
# What follows these is no file, whatever has its name.
_SUBCOMMAND = re.compile(rf"(?<![\w./-])(?:git|{'|'.join(sorted(WITH_OPTIONS))})\s+[\w-]+(?=\s|$)")


def is_open(part: BashPart) -> bool:
    """Whether the files that a part opens can't be told from its own arguments alone."""
    if not part.doubt:
        return False
    return part.dynamic or part.exact or bool(part.barred) or any(not arg.known for arg in part.args)


def named_in(line: str, found: Iterable[Simple], place: Place) -> list[Path] | None:
    """The files that a line names, whatever it does with the names; None where there are too many."""
    begun = Place(place.start, {name: place.values.get(name) for name in ("HOME", "PWD")}, start=place.start)
    home = begun.values["HOME"] or "/"
    texts = dict.fromkeys((*_BETWEEN.split(_SUBCOMMAND.sub(" ", line)), *_expanded(found, begun)))
    texts.pop("", None)
    if len(texts) > MOST_NAMES:
        return None
    names = [Argument(text, wild=bool(set(text) & set("*?[")), pattern=text) for text in texts]
    names += [Argument(home + text[1:]) for text in texts if text.startswith("~/")]
    paths = [path for name in names for path in named_by(name, begun)]
    folders = [os.path.normpath(os.path.join(start, text)) for start in place.start for text in texts]  # noqa: PTH118
    others = [folder for folder in dict.fromkeys((home, *folders)) if folder not in place.start and _is_folder(folder)]
    for folder in others[:_MOST_FOLDERS]:
        paths += _lying_in(folder, names)
    return list(dict.fromkeys(paths))


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
    for name in names:
        if not name.text.startswith("/"):
            yield from (path for path in named_by(name, place) if name.wild or os.path.lexists(path))


def _is_folder(path: str) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - it fails on no name, however long
