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

    def __init__(self, folder: Path, pattern: str) -> None:
        self._prefix = f"{folder}/" if str(folder) != "/" else "/"
        self._matches = globs.compiled(pattern).match
        self._times: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self._times)

    def take(self, names: Iterable[str]) -> None:
        """Keep the names that match, with their times; a file that is gone by now is left out."""
        matches, prefix, keep, stat = self._matches, self._prefix, self._times.append, os.lstat
        for name in names:
            if matches(name):
                path = prefix + name
                try:
                    keep((-stat(path).st_mtime_ns, path))
                except OSError:
                    continue

    def first(self, cwd: Path) -> str:
        """Name the first files that were found."""
        more = ", …" if len(self._times) > FIRST_SHOWN else ""
        return ", ".join(_from(cwd, path) for _, path in self._times[:FIRST_SHOWN]) + more

    def newest(self, limit: int, cwd: Path, note: str = "") -> Found:
        """Return the newest ones, by name where they are of one time."""
        return Found([_from(cwd, path) for _, path in heapq.nsmallest(limit, self._times)], len(self._times), note)


async def find(base: Path, pattern: str, ctx: ToolContext, progress: Progress) -> Found:
    """Find what matches. The pattern's own beginning may lead out of `base`, and through links that it names."""
    prefix, rest = globs.fixed_prefix(pattern)
    folder = _plain(ctx.resolve(prefix if prefix.startswith("~") else base / prefix))
    limit = ctx.limits.glob_max_results
    if not folder.is_dir():
        return Found([], 0, f"There is no folder {folder}.")
    matches = Matches(folder, rest)
    if globs.is_literal(rest):
        ctx.resolve(folder / rest)
        if rest and (folder / rest).is_file():
            matches.take((rest,))
        is_folder = (folder / rest).is_dir()
        note = f"{pattern} is a folder; list its files with {pattern.rstrip('/')}/**." if is_folder else ""
        return matches.newest(limit, ctx.cwd, note)
    program = ripgrep(ctx.env)
    if program is None:
        from .walk import files

        await asyncio.to_thread(matches.take, files(folder, SECONDS))
        return matches.newest(limit, ctx.cwd)
    note = await _listed([program, *arguments(rest)], folder, matches, ctx, progress)
    return matches.newest(limit, ctx.cwd, note)


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
    name = rest.rpartition("/")[2]
    if _PLAIN_NAME.fullmatch(name) and "**" not in name:
        # A type, unlike a glob, leaves the ignore rules in force. Fewer names are fewer to print and to match.
        yield from (f"--type-add=wanted:{name}", "--type=wanted")


async def _listed(argv: list[str], folder: Path, matches: Matches, ctx: ToolContext, progress: Progress) -> str:
    """Match the names as they come; return what to tell about it if they are not all."""
    from .listing import NamesInPieces, run

    pieces = NamesInPieces(matches, lambda: progress(f"Found {matches.first(ctx.cwd)}"))
    ended = await run(argv, folder, pieces, ctx)
    if b"os error 11" in ended.errors and not len(matches):  # EAGAIN: no room for its threads
        pieces = NamesInPieces(matches, lambda: None)
        ended = await run([*argv, "--threads=1"], folder, pieces, ctx)
    if ended.timed_out:
        return f"The search was ended after {SECONDS:g} s; there may be more files."
    return "There are more files than can be listed; name a folder." if ended.cut else ""


def _from(cwd: Path, path: str) -> str:
    """Name a file from the current folder, or absolute where it lies outside of it."""
    inside = f"{cwd}/"
    return (path.removeprefix(inside)).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
