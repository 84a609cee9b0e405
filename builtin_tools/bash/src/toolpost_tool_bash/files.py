"""The files that a command opens: by its operands and by its redirections."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Final

from .arguments import Argument, arguments
from .parts import BashPart
from .places import Place
from .record import Effects
from .syntax import Redirect

FREE: Final = frozenset(
    {"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin"} | {f"/dev/fd/{number}" for number in (0, 1, 2, 63)}
)
"""Not files but descriptors that the shell has open anyway (63 stands for a process substitution)."""

_MOST_ENTRIES = 5_000
_WRITES = frozenset({">", ">>", ">|", ">&", "&>", "&>>", "<>"})


def files_of(effects: Effects, place: Place) -> tuple[tuple[Path, ...], tuple[Path, ...], str]:
    """The paths read and written, where `**` at the end means all that is below; and what is unknown about them."""
    reads: list[Path] = []
    writes: list[Path] = []
    unknown = ""
    for kind, arg in effects.files:
        if kind in ("text", "pattern", "any", "pair"):
            continue
        if kind in ("mention", "revision"):
            for candidate in _mentioned(arg):
                reads.extend(place.paths(candidate) or ())
            continue
        paths = place.paths(arg)
        if paths is None or (arg.text == "" and arg.known):
            shown = arg.source or arg.text or "it uses"
            unknown = unknown or f"the path {shown} is only known once the line runs"
            paths = place.guesses(arg)
        target = writes if kind in ("write", "wipe", "within") else reads
        target.extend(path for path in paths if str(path) not in FREE)
        if kind in ("tree", "wipe", "follow"):
            target.extend(path / "**" for path in paths)
        if kind == "follow":
            for path in paths:
                links = _links_below(path)
                reads.extend(links or ())
                unknown = unknown or ("" if links is not None else f"too much lies below {arg.text} to look for links")
    return tuple(reads), tuple(writes), unknown


def handed_text(redirect: Redirect, place: Place) -> str | None:
    """The text that a here-document or here-string hands to the command, where it is known."""
    if redirect.op in ("<<", "<<-"):
        args = arguments(redirect.body[0], {}) if redirect.body else []
    elif redirect.op == "<<<":
        args = arguments(redirect.target, place.values)
    else:
        return None
    return args[0].text if len(args) == 1 and args[0].known else None


def opened(redirect: Redirect, place: Place, source: str) -> BashPart | None:
    """What a redirection opens, as a part of its own; None where it opens no file."""
    if redirect.op in ("<<", "<<-", "<<<"):
        return None
    args = arguments(redirect.target, place.values, source)
    target = args[0] if len(args) == 1 else Argument("", known=False)
    copies = redirect.op in (">&", "<&") and target.plain and (target.text.rstrip("-").isdigit() or target.text == "-")
    if copies or (target.plain and target.text in FREE):
        return None
    shown = f"{redirect.op} {source or target.text}"
    paths = place.paths(target) if not target.wild and not target.splits else None
    if paths is None or any(str(path).startswith(("/dev/tcp/", "/dev/udp/")) for path in paths):
        guesses = tuple(place.guesses(target))
        written, read = (guesses, ()) if redirect.op in _WRITES else ((), guesses)
        return BashPart(
            shown, reads=read, writes=written, doubt="the target of a redirection is not known to be a file"
        )
    if redirect.op == "<":
        return BashPart(shown, read_only=True, reads=tuple(paths))
    if redirect.op in _WRITES:
        return BashPart(shown, writes=tuple(paths), reads=tuple(paths) if redirect.op == "<>" else ())
    return BashPart(shown, doubt="the redirection is not understood")


def _links_below(folder: Path) -> list[Path] | None:
    """The links below a folder, for what follows them; None where that is too much to look at."""
    found: list[Path] = []
    seen = 0
    for above, folders, files in os.walk(folder):
        seen += len(folders) + len(files)
        if seen > _MOST_ENTRIES:
            return None
        found.extend(path for name in (*folders, *files) if (path := Path(above, name)).is_symlink())
    return found


def _mentioned(arg: Argument) -> list[Argument]:
    """The paths that an argument of an unknown program may name."""
    marks = [mark for mark in ("=", ":", "@") if mark in arg.text]
    found = [arg, *(replace(arg, text=arg.text.partition(mark)[2].lstrip("@")) for mark in marks)]
    return [candidate for candidate in found if candidate.text]
