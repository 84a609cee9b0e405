"""The files that a command opens: by its operands and by its redirections."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from . import pathspecs
from .arguments import Argument, Found, arguments
from .code import HOME
from .parts import BashPart
from .places import Place
from .record import Effects
from .rough import alternatives
from .syntax import Redirect

if TYPE_CHECKING:
    from toolpost.permissions import CommandPart

FREE: Final = frozenset(
    {"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin"} | {f"/dev/fd/{number}" for number in (0, 1, 2, 63)}
)
"""Not files but descriptors that the shell has open anyway (63 stands for a process substitution)."""

Unseen: TypeAlias = frozenset[Literal["reads", "writes"]]
_MOST_ENTRIES = 5_000
_DEVICES = ("dev",)
_NO_FILES = frozenset({"text", "pattern", "any", "pair"})
_BREAKS = re.compile(r"[\s'\"\\]")
_BUNDLE = re.compile(r"-[^-].")
_LONGEST_BUNDLE = 6
ANY_NAME: Final = "…"
"""A name for whatever lies in a folder: a rule that covers it covers all there."""
_WRITES = frozenset({">", ">>", ">|", ">&", "&>", "&>>", "<>"})
_CHANGING = frozenset({"write", "wipe", "within", "into"})


class Files(NamedTuple):
    """The paths that are read and written, where `**` at the end means all that is below.

    `doubt` says what is not known of them, `unseen` which of the two that is about. Of `perhaps` any may be opened, or none.
    """

    reads: tuple[Path, ...] = ()
    writes: tuple[Path, ...] = ()
    doubt: str = ""
    unseen: Unseen = frozenset()
    perhaps: tuple[Path, ...] = ()

    def joined(self, others: Sequence[CommandPart]) -> Files:
        """These files and those of some parts; the doubt about the parts is their own."""
        reads = dict.fromkeys((*self.reads, *(path for other in others for path in other.reads)))
        writes = dict.fromkeys((*self.writes, *(path for other in others for path in other.writes)))
        perhaps = dict.fromkeys((*self.perhaps, *(path for other in others for path in other.perhaps)))
        unseen = self.unseen.union(*(other.unseen for other in others))
        return Files(tuple(reads), tuple(writes), self.doubt, unseen, tuple(perhaps))


_NONE: Final = Files()


def files_of(effects: Effects, place: Place) -> Files:
    """The files that a program with these effects opens from there."""
    if not (effects.files or effects.copies or effects.sweeps):
        return _NONE
    opened = _Opened(effects, place)
    found_some = bool(effects.started) or place.found is not None
    for kind, arg in _with_found(effects.files) if found_some else effects.files:
        opened.take(kind, arg)
    for source, into in effects.copies:
        opened.copy(source, into)
    for folder, name in effects.sweeps:
        opened.sweep(folder, name)
    return opened.files()


class _Opened:
    """Collects the files of one command from what its arguments are, by kind."""

    def __init__(self, effects: Effects, place: Place) -> None:
        self._effects, self._place = effects, place
        self._reads: list[Path] = []
        self._writes: list[Path] = []
        self._perhaps: list[Path] = []
        self._doubt = ""
        self._unseen: set[Literal["reads", "writes"]] = set()
        self._mentioned: set[tuple[str, bool, str]] = set()

    def files(self) -> Files:
        """What was collected."""
        unseen = frozenset(self._unseen)
        return Files(tuple(self._reads), tuple(self._writes), self._doubt, unseen, tuple(self._perhaps))

    def take(self, kind: str, arg: Argument) -> None:
        """Add what an argument of a kind names."""
        if kind in _NO_FILES:
            return
        if kind in ("mention", "name", "revision", "lines"):
            self._name(kind, arg)
        elif kind in ("perhaps", "below"):
            paths = named_by(arg, self._place)
            self._perhaps.extend(paths)
            self._perhaps.extend(path.parent / "**" for path in paths if kind == "below" and path.name == ANY_NAME)
        elif kind == "found":
            self._doubt = self._doubt or _doubt_of_names(arg, self._place)
        else:
            self._open(kind, arg)

    def copy(self, source: Argument, into: Argument) -> None:
        """Add what a copy of a folder makes."""
        copied = _copied(self._place.paths(source), self._place.paths(into))
        if copied is None:
            self._doubt = self._doubt or f"what {source.source or source.text} holds is not known"
        self._writes.extend(copied or ())

    def sweep(self, folder: Argument, name: str) -> None:
        """Add what is removed below a folder by a pattern of names."""
        swept = _named_below(self._place.paths(folder), name)
        everything = folder._replace(text=f"{folder.text}/**")
        self._writes.extend(self._place.guesses(everything) if swept is None else swept)

    def _name(self, kind: str, arg: Argument) -> None:
        """Add what a word may name for a program that does with it what it likes."""
        if kind == "mention":
            key = (arg.text, arg.known, arg.pattern)
            if key in self._mentioned:
                return
            self._mentioned.add(key)
        if arg.found is not None:
            self._perhaps.extend(_found_by(arg.found, self._place))
        if kind == "revision":
            covered = pathspecs.named(arg, self._place.folders)
            self._reads.extend(covered or ())
            self._unseen.update(() if covered is not None and arg.known else ("reads",))
        if kind == "lines" and not arg.known:
            self._unseen.add("reads")
        paths = named_by(arg, self._place)
        self._reads.extend(paths)
        if kind == "mention" and self._effects.why:
            self._perhaps.extend(paths)

    def _open(self, kind: str, arg: Argument) -> None:
        """Add what a program is known to open, and below a folder what it opens there."""
        if arg == HOME:
            arg = arg._replace(text=self._place.values.get("HOME") or "/")
        found = self._place.paths(arg)
        if found is None or (arg.text == "" and arg.known):
            self._miss(kind, arg)
        paths = self._place.guesses(arg) if found is None else found
        target = self._writes if kind in _CHANGING else self._reads
        target.extend([path for path in paths if path.parts[1:2] != _DEVICES or str(path) not in FREE])
        if kind == "into":
            target.extend(path / ANY_NAME for path in paths)
        if kind == "tree" and self._effects.names:
            target.extend(path / "**" / name for path in paths for name in self._effects.names)
        elif kind == "follow" and (named := _all_named(arg, found)) is not None:
            target.extend(named)
            return
        elif kind in ("tree", "wipe", "follow", "archived"):
            target.extend(path / "**" for path in paths if kind != "archived" or _is_folder(path))
        if kind in ("follow", "reach"):
            self._follow(paths, arg)

    def _miss(self, kind: str, arg: Argument) -> None:
        shown = arg.source or arg.text or "it uses"
        self._doubt = self._doubt or f"the path {shown} is only known once the line runs"
        if kind not in ("list", "reach", "within", "archived"):
            self._unseen.add("writes" if kind in _CHANGING else "reads")

    def _follow(self, folders: Sequence[Path], arg: Argument) -> None:
        for folder in folders:
            links = _links_below(folder)
            if links is None:
                self._doubt = self._doubt or f"too much lies below {arg.text} to look for links"
            self._reads.extend(links or ())


def named_by(arg: Argument, place: Place) -> list[Path]:
    """The files that a word may name, and for a folder whatever lies in it: a rule about all there holds as well."""
    found: list[Path] = []
    for candidate in _mentioned(arg):
        paths = place.paths(candidate)
        paths = place.guesses(candidate) if paths is None else paths
        found.extend(paths)
        # A folder in front of `..` may be one that the line makes.
        found.extend(path / ANY_NAME for path in paths if _is_folder(path) or _is_folder(os.path.normpath(path)))
    return found


def _with_found(files: Sequence[tuple[str, Argument]]) -> Iterator[tuple[str, Argument]]:
    """The files by kind, where the folders in which others are found stand for what is found there."""
    for kind, arg in files:
        if arg.found is None or kind not in ("read", "tree", "list", "revision"):
            yield kind, arg
            continue
        for start in arg.found.starts:
            if kind == "list":
                yield "list", start
                yield "reach", start
            else:
                yield "follow", start._replace(found=Found((), names=arg.found.names))


def _found_by(found: Found, place: Place) -> Iterator[Path]:
    """What another command found, as far as it can be told from the line."""
    for start in found.starts:
        paths = place.paths(start)
        named = _all_named(start._replace(found=found), paths)
        folders = place.guesses(start) if paths is None else paths
        yield from [path / "**" for path in folders] if named is None else named


def _all_named(arg: Argument, folders: list[Path] | None) -> list[Path] | None:
    """All that is found below some folders by a pattern of names; None where that is not all, or too much."""
    names = arg.found.names if arg.found is not None else ""
    found = _named_below(folders, names) if names else None
    return None if found is None or any(_is_folder(path) for path in found) else found


def _doubt_of_names(arg: Argument, place: Place) -> str:
    """Why names that are found may become other arguments than they are; empty if none does."""
    found, seen = arg.found, 0
    places = [place.paths(start) for start in found.starts] if found is not None else []
    folders = [path for paths in places for path in paths or ()]
    if found is None or None in places:
        return f"{arg.source or 'what is found'} is only known once the line runs"
    for folder in folders:
        for above, inside, files in os.walk(folder):
            seen += len(inside) + len(files)
            if seen > _MOST_ENTRIES:
                return "too much lies there to see whether all names stay whole"
            for name in (*inside, *files):
                if (found.split and _BREAKS.search(name)) or (found.bare and Path(above) == folder and name[0] == "-"):
                    return f"the name {name} would become another argument"
    return ""


def handed_text(redirect: Redirect, place: Place) -> str | None:
    """The text that a here-document or here-string hands to the command, where it is known."""
    if redirect.op in ("<<", "<<-"):
        args = arguments(redirect.body[0], {}) if redirect.body else []
    elif redirect.op == "<<<":
        args = arguments(redirect.target, place.values)
    else:
        return None
    return args[0].text if len(args) == 1 and args[0].known else None


def opened(redirect: Redirect, place: Place) -> BashPart | None:
    """What a redirection opens, as a part of its own; None where it opens no file."""
    if redirect.op in ("<<", "<<-", "<<<"):
        return None
    args = arguments(redirect.target, place.values)
    target = args[0] if len(args) == 1 else Argument("", known=False)
    copies = redirect.op in (">&", "<&") and target.plain and (target.text.rstrip("-").isdigit() or target.text == "-")
    if copies or (target.plain and target.text in FREE):
        return None
    shown = f"{redirect.op} {redirect.target.source or target.text}"
    # Of several files that a pattern matches bash opens none; a loop's variable stands for one of them.
    paths = place.paths(target) if not target.splits else None
    if paths is None or any(str(path).startswith(("/dev/tcp/", "/dev/udp/")) for path in paths):
        guesses = tuple(place.guesses(target))
        changes = redirect.op in _WRITES
        written, read = (guesses, ()) if changes else ((), guesses)
        doubt = "the target of a redirection is not known to be a file"
        unseen: Unseen = frozenset({"writes" if changes else "reads"})
        return BashPart(shown, reads=read, writes=written, doubt=doubt, unseen=unseen)
    if redirect.op == "<":
        return BashPart(shown, read_only=True, reads=tuple(paths))
    if redirect.op in _WRITES:
        return BashPart(shown, writes=tuple(paths), reads=tuple(paths) if redirect.op == "<>" else ())
    return BashPart(shown, doubt="the redirection is not understood")


def _is_folder(path: Path | str) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - it fails on no name, however long


def _links_below(folder: Path) -> list[Path] | None:
    """The links below a folder, for what follows them; None where that is too much to look at."""
    found: list[Path] = []
    seen = 0
    for above, folders, files in os.walk(folder):
        seen += len(folders) + len(files)
        if seen > _MOST_ENTRIES:
            return None
        paths = (os.path.join(above, name) for name in (*folders, *files))  # noqa: PTH118 - most are no links, and need no Path
        found.extend(Path(path) for path in paths if os.path.islink(path))  # noqa: PTH114 - it fails on no name, however long
    return found


def _copied(sources: list[Path] | None, targets: list[Path] | None) -> list[Path] | None:
    """What a copy of folders makes, whether it becomes the target or goes into it; None where that is too much."""
    if sources is None or targets is None:
        return None
    found: list[Path] = []
    for source in sources:
        for above, folders, files in os.walk(source):
            inside = os.path.relpath(above, source)
            names = [os.path.normpath(os.path.join(inside, name)) for name in (*folders, *files)]  # noqa: PTH118 - names are texts here, and many
            found.extend(made / name for into in targets for made in (into, into / source.name) for name in names)
            if len(found) > _MOST_ENTRIES:
                return None
    return found


def _named_below(folders: list[Path] | None, name: str) -> list[Path] | None:
    """What below some folders has a name of a pattern; None where that is too much to look at."""
    found: list[Path] = []
    seen = 0
    for folder in folders or ():
        for above, inside, files in os.walk(folder):
            seen += len(inside) + len(files)
            if seen > _MOST_ENTRIES:
                return None
            found.extend(Path(above, one) for one in fnmatch.filter((*inside, *files), name))
    return None if folders is None else found


def _mentioned(arg: Argument) -> list[Argument]:
    """The paths that an argument of an unknown program may name."""
    text = arg.text
    # A value may be glued to its letter, which may stand in a bundle.
    glued = [text[at:] for at in range(1, min(len(text), _LONGEST_BUNDLE))] if _BUNDLE.match(text) else []
    if not (glued or set(text) & set("=:@,")):
        return [arg] if text else []
    # Some take braces apart themselves, as curl does.
    spelled = alternatives(text) if "{" in text else ()
    pieces = dict.fromkeys((text, *spelled, *re.split("[=:@,]", text), *re.split("[=:@,]", text, maxsplit=1), *glued))
    return [arg if piece == text else arg._replace(text=piece, pattern=piece) for piece in pieces if piece]
