"""Finding the files: ripgrep lists them, with git's ignore rules; the pattern is matched here."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from . import pattern as globs
from .matches import Found, Matches

if TYPE_CHECKING:
    from toolpost import Progress, ToolContext

SECONDS = 20.0
NOT_LISTED = (".git", ".hg", ".svn", ".jj")

_PLAIN_NAME = re.compile(r"(?!\**$)(?:[\w.+*-]|\{[\w.+*,-]*\})+", re.ASCII)


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
            await asyncio.to_thread(matches.take, map(os.fsencode, files(folder, SECONDS, NOT_LISTED)))
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
    ended = await run(argv, folder, names, ctx, SECONDS)
    if b"os error 11" in ended.errors and not len(matches):  # EAGAIN: no room for its threads
        names = Names(matches, lambda: None)
        ended = await run([*argv, "--threads=1"], folder, names, ctx, SECONDS)
    if ended.timed_out:
        return f"The search was ended after {SECONDS:g} s; there may be more files."
    return "There are more files than can be listed; name a folder." if names.is_cut else ""
