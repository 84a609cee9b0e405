"""Finding the files: ripgrep lists them, with git's ignore rules; the pattern is matched here."""

from __future__ import annotations

import asyncio
import heapq
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from . import pattern as globs

if TYPE_CHECKING:
    from toolpost import Progress, ToolContext

SECONDS = 20.0
MOST_OUTPUT = 100_000_000
NOT_LISTED = (".git", ".hg", ".svn", ".jj")
FIRST_SHOWN = 5
"""Names of the first results that are shown while the search goes on."""

_PLAIN_NAME = re.compile(r"(?!\**$)(?:[\w.+*-]|\{[\w.+*,-]*\})+", re.ASCII)


@dataclass(frozen=True)
class Found:
    """The newest matching files as the model should name them, how many match, and what to tell about that."""

    names: list[str]
    total: int
    note: str = ""


class Matches:
    """The matching files among names that come piece by piece; `take` blocks, and is called by one thread at a time."""

    def __init__(self, folder: Path, pattern: str | None) -> None:
        """Without a pattern each name matches."""
        self._folder = folder
        self._matches = None if pattern is None else globs.matcher(pattern)
        self._times: list[tuple[int, bytes]] = []
        # Relative to an open folder, a file's time is found faster than by its whole path.
        self._open = os.open(folder, getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC)

    def __enter__(self) -> Matches:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._open)

    def __len__(self) -> int:
        return len(self._times)

    def take(self, names: Iterable[bytes]) -> None:
        """Keep the names that match, with their times; a file that is gone by now is left out."""
        matches, keep, stat, folder = self._matches, self._times.append, os.lstat, self._open
        if matches is not None:
            names = [name for name in names if matches(os.fsdecode(name))]
        for name in names:
            try:
                keep((-stat(name, dir_fd=folder).st_mtime_ns, name))
            except OSError:
                continue

    def first(self, cwd: Path) -> str:
        """Name the first files that were found."""
        more = ", …" if len(self._times) > FIRST_SHOWN else ""
        return ", ".join(self._shown(name, cwd) for _, name in self._times[:FIRST_SHOWN]) + more

    def newest(self, limit: int, cwd: Path, note: str = "") -> Found:
        """Return the newest ones, by name where they are of one time."""
        newest = heapq.nsmallest(limit, self._times)
        return Found([self._shown(name, cwd) for _, name in newest], len(self._times), note)

    def _shown(self, name: bytes, cwd: Path) -> str:
        """Name a file from the current folder, or absolute where it lies outside of it."""
        path = os.fsencode(self._folder).rstrip(b"/") + b"/" + name
        return path.removeprefix(os.fsencode(cwd) + b"/").decode("utf-8", "backslashreplace")


async def find(base: Path, pattern: str, ctx: ToolContext, progress: Progress) -> Found:
    """Find what matches. The pattern's own beginning may lead out of `base`, and through links that it names."""
    prefix, rest = globs.fixed_prefix(pattern)
    folder = _plain(ctx.resolve(prefix if prefix.startswith("~") else base / prefix))
    if not folder.is_dir():
        return Found([], 0, f"There is no folder {folder}.")
    program = ripgrep(ctx.env)
    listed = not globs.is_literal(rest) and program is not None
    with Matches(folder, None if listed and _is_listed_exactly(rest) else rest) as matches:
        if globs.is_literal(rest):
            note = _taken_by_name(folder, pattern, rest, matches, ctx)
        elif program is not None:
            note = await _listed([program, *arguments(rest)], folder, matches, ctx, progress)
        else:
            from .walk import files

            note = ""
            await asyncio.to_thread(matches.take, map(os.fsencode, files(folder, SECONDS)))
        return matches.newest(ctx.limits.glob_max_results, ctx.cwd, note)


def _taken_by_name(folder: Path, pattern: str, name: str, matches: Matches, ctx: ToolContext) -> str:
    """Take the one file that a pattern without wildcards can name; return what to tell where it is a folder."""
    path = ctx.resolve(folder / name)
    if name and path.is_file():
        matches.take((os.fsencode(name),))
    return f"{pattern} is a folder; list its files with {pattern.rstrip('/')}/**." if path.is_dir() else ""


def _plain(folder: Path) -> Path:
    """Resolve `..` where there is one; a link that the pattern names stays in the names of what is found."""
    return Path(os.path.realpath(folder)) if ".." in folder.parts else folder


def ripgrep(env: Mapping[str, str]) -> str | None:
    """Find `rg`: the one installed beside this Python, else the system's; USE_BUILTIN_RIPGREP=false turns that round."""
    import shutil

    beside = Path(sys.executable).parent / "rg"
    own = str(beside) if os.access(beside, os.X_OK) else None
    if own and env.get("USE_BUILTIN_RIPGREP", "").lower() not in ("0", "false", "no", "off"):
        return own
    return shutil.which("rg", path=env.get("PATH")) or own


def arguments(rest: str) -> Iterator[str]:
    """Name the options that list all files which may match; what they leave out can't."""
    yield from ("--no-config", "--files", "--hidden", "--null", "--no-messages", "--no-require-git")
    yield from (f"--glob=!{name}" for name in NOT_LISTED)
    depth = globs.depth(rest)
    if depth is not None:
        yield f"--max-depth={depth}"
    name = _narrowing(rest)
    if name is not None:
        # A type, unlike a glob, leaves the ignore rules in force. Fewer names are fewer to print and to match.
        yield from (f"--type-add=wanted:{name}", "--type=wanted")


def _narrowing(rest: str) -> str | None:
    """Return the pattern of the files' own names, where ripgrep reads it as we do."""
    name = rest.rpartition("/")[2]
    return name if _PLAIN_NAME.fullmatch(name) and "**" not in name else None


def _is_listed_exactly(rest: str) -> bool:
    """Whether all that ripgrep lists with these arguments matches."""
    name = _narrowing(rest)
    return name is not None and rest in (name, f"**/{name}")


async def _listed(argv: list[str], folder: Path, matches: Matches, ctx: ToolContext, progress: Progress) -> str:
    """Match the names as they come; return what to tell about it if they are not all."""
    from .listing import Names, run

    names = Names(matches, lambda: progress(f"Found {matches.first(ctx.cwd)}"))
    ended = await run(argv, folder, names, ctx)
    if b"os error 11" in ended.errors and not len(matches):  # EAGAIN: no room for its threads
        names = Names(matches, lambda: None)
        ended = await run([*argv, "--threads=1"], folder, names, ctx)
    if ended.timed_out:
        return f"The search was ended after {SECONDS:g} s; there may be more files."
    return "There are more files than can be listed; name a folder." if names.is_cut else ""
