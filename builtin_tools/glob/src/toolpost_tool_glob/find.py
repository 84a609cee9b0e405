"""Finding the files: ripgrep lists them, with git's ignore rules; the pattern is matched here."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from . import pattern as globs

if TYPE_CHECKING:
    from toolpost import ToolContext

SECONDS = 20.0
MOST_OUTPUT = 100_000_000
NOT_LISTED = (".git", ".hg", ".svn", ".jj")


@dataclass(frozen=True)
class Found:
    """Paths below `folder` that may match, and the pattern that decides."""

    folder: Path
    names: Iterable[str]
    pattern: str
    note: str = ""

    def newest(self, limit: int, cwd: Path) -> tuple[list[str], int]:
        """Return the newest matching files as the model should name them, and how many match; it blocks."""
        matches = globs.compiled(self.pattern).match
        times: list[tuple[int, str]] = []
        for name in self.names:
            if matches(name):
                path = f"{self.folder}/{name}"
                try:
                    times.append((-os.lstat(path).st_mtime_ns, path))
                except OSError:
                    continue
        times.sort()
        return [_from(cwd, path) for _, path in times[:limit]], len(times)


async def find(base: Path, pattern: str, ctx: ToolContext) -> Found:
    """List what may match. The pattern's own beginning may lead out of `base`, and through links that it names."""
    prefix, rest = globs.fixed_prefix(pattern)
    folder = _plain(ctx.resolve(prefix) if prefix.startswith("~") else base / prefix)
    if not folder.is_dir():
        return Found(folder, (), rest, f"There is no folder {folder}.")
    if globs.is_literal(rest):
        note = (
            f"{pattern} is a folder; list its files with {pattern.rstrip('/')}/**." if (folder / rest).is_dir() else ""
        )
        return Found(folder, (rest,) if rest and (folder / rest).is_file() else (), rest, note)
    program = ripgrep(ctx.env)
    if program is None:
        from .walk import files

        return Found(folder, files(folder, SECONDS), rest)
    names, note = await _listed(program, folder, globs.depth(rest), ctx)
    return Found(folder, names, rest, note)


def _plain(folder: Path) -> Path:
    """Resolve `..` where there is one; a link that the pattern names stays in the names of what is found."""
    return Path(os.path.realpath(folder)) if ".." in folder.parts else folder


def ripgrep(env: Mapping[str, str]) -> str | None:
    """Find `rg`: the system's, else the one installed beside this Python."""
    import shutil

    beside = Path(sys.executable).parent / "rg"
    return shutil.which("rg", path=env.get("PATH")) or (str(beside) if os.access(beside, os.X_OK) else None)


async def _listed(program: str, folder: Path, depth: int | None, ctx: ToolContext) -> tuple[Sequence[str], str]:
    argv = [program, "--no-config", "--files", "--hidden", "--null", "--no-messages", "--no-require-git"]
    argv += [f"--glob=!{name}" for name in NOT_LISTED]
    argv += [] if depth is None else [f"--max-depth={depth}"]
    ended = await ctx.processes.run(
        argv, cwd=folder, env=ctx.env or None, timeout=SECONDS, max_output=MOST_OUTPUT, abort=ctx.abort
    )
    names = os.fsdecode(ended.output).split("\0")
    names.pop()  # what follows the last NUL: nothing, or a name that was cut off
    if ended.timed_out:
        return names, f"The search was ended after {SECONDS:g} s; there may be more files."
    return names, "There are more files than can be listed; name a folder." if ended.dropped else ""


def _from(cwd: Path, path: str) -> str:
    """Name a file from the current folder, or absolute where it lies outside of it."""
    inside = f"{cwd}/"
    return (path.removeprefix(inside)).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
