"""Running ripgrep, or the slower search that stands in for it."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from toolpost import ToolFailed

from .withheld import without

if TYPE_CHECKING:
    from toolpost import Progress, ToolContext

    from .running import Ended
    from .tool import GrepInput

SECONDS = 20.0
MOST_OUTPUT = 20_000_000
FIRST_SHOWN = 5
"""Results that are shown while the search goes on."""
FIRST_CHARS = 200
_ENGINES = re.compile(r"default regex engine error:\n~+\n(.*?)\n~+\n\s*PCRE2 regex engine error:\n(.*)", re.DOTALL)
NOT_SEARCHED = (".git", ".hg", ".svn", ".jj")


async def run(input: GrepInput, where: Path, ctx: ToolContext, progress: Progress) -> tuple[bytes, str]:
    """Return the raw output, and what to tell about it if it is not all; raises ToolFailed with ripgrep's reason."""
    from . import running

    folder, target = _place(where)

    def may_tell(output: bytes) -> bytes:
        return output if ctx.withheld is None else without(output, input.output_mode, folder, ctx.withheld)

    def show(first: bytes) -> None:
        text = shown(may_tell(_whole_lines(first)))
        if text:
            progress(text)

    program = ripgrep(ctx.env)
    if program is None:
        argv = [sys.executable, "-I", str(Path(__file__).with_name("fallback.py")), *arguments(input, folder)]
    else:
        argv = [program, *arguments(input, folder)]
    argv += ["--", target]
    ended = await running.run(argv, folder, SECONDS, running.Output(MOST_OUTPUT, show), ctx)
    if program is not None and b"os error 11" in ended.errors:  # EAGAIN: no room for its threads
        argv.insert(1, "--threads=1")
        ended = await running.run(argv, folder, SECONDS, running.Output(MOST_OUTPUT, show), ctx)
    raw, note = _checked(ended)
    raw = raw if ctx.withheld is None else await asyncio.to_thread(may_tell, raw)
    return raw, note or _hint(raw, input)


def shown(output: bytes) -> str:
    """Write the first results, whatever the mode, for a person who waits for the others."""
    separator = b"\n" if b"\n" in output else b"\0"
    whole = output.split(separator)[:-1][:FIRST_SHOWN]
    parts = [part.replace(b"\0", b":").removeprefix(b"./") for part in whole]
    return "\n".join(part[:FIRST_CHARS].decode("utf-8", "replace") for part in parts)


def _place(where: Path) -> tuple[Path, str]:
    """Return where to run and what to search from there: globs with a slash are matched from where ripgrep runs."""
    return (where, ".") if where.is_dir() else (where.parent, f"./{where.name}")


def ripgrep(env: Mapping[str, str]) -> str | None:
    """Find `rg`: the one installed beside this Python, else the system's; USE_BUILTIN_RIPGREP=false turns that round."""
    import shutil

    beside = Path(sys.executable).parent / "rg"
    own = str(beside) if os.access(beside, os.X_OK) else None
    if own and env.get("USE_BUILTIN_RIPGREP", "").lower() not in ("0", "false", "no", "off"):
        return own
    return shutil.which("rg", path=env.get("PATH")) or own


def arguments(input: GrepInput, folder: Path) -> Iterator[str]:
    """Name the options of a search in a folder; what the model gives is the value of one, so it can't become another."""
    yield from ("--no-config", "--hidden", "--no-messages", "--color=never", "--null", "--with-filename")
    yield from ("--no-heading", "--no-require-git", "--crlf", "--engine=auto")
    if input.output_mode == "files_with_matches":
        yield "--files-with-matches"
    elif input.output_mode == "count":
        yield "--count"
    else:
        yield from ("--line-number", "--column")
        yield from _context(input)
        if input.only_matching:
            yield "--only-matching"
    if input.ignore_case:
        yield "--ignore-case"
    if input.multiline:
        yield from ("--multiline", "--multiline-dotall")
    elif "\n" in input.pattern or r"\n" in input.pattern:
        yield "--multiline"
    yield from (f"--type={name.strip()}" for name in (input.type or "").split(",") if name.strip())
    yield from (f"--glob={_within(folder, glob)}" for glob in globs(input.glob or ""))
    yield from (f"--glob=!{name}" for name in NOT_SEARCHED)
    yield f"--regexp={input.pattern}"


def globs(text: str) -> list[str]:
    """Split a list of globs at commas outside of braces, and at blanks between patterns."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth <= 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    words = [part.split() if all("*" in word for word in part.split()) else [part.strip()] for part in parts]
    return [word for group in words for word in group if word]


def _within(folder: Path, glob: str) -> str:
    """Let an absolute glob begin at the folder that is searched, as ripgrep takes a slash at its beginning."""
    mark = "!" * glob.startswith("!")
    inside = f"{mark}{str(folder).rstrip('/')}/"
    return f"{mark}/{glob.removeprefix(inside)}" if glob.startswith(inside) else glob


def _context(input: GrepInput) -> Iterator[str]:
    around = input.around if input.around is not None else input.context
    before = input.before if input.before is not None else around
    after = input.after if input.after is not None else around
    if before:
        yield f"--before-context={before}"
    if after:
        yield f"--after-context={after}"


def _checked(ended: Ended) -> tuple[bytes, str]:
    if ended.timed_out:
        return _whole_lines(
            ended.output
        ), f"The search was ended after {SECONDS:g} s; this is what it found until then."
    if ended.cut:
        return _whole_lines(ended.output), "There is more output than can be kept; narrow the search."
    # 0: found, 1: not found, 2: an error, after which there may still be results.
    if ended.returncode not in (0, 1) and not ended.output:
        reason = ended.errors.decode(errors="replace").strip()
        if reason:
            raise ToolFailed(_with_hint(reason))
        if ended.returncode != 2:
            raise ToolFailed(f"The search ended with exit code {ended.returncode} and said nothing.")
        return b"", "Some files could not be read."
    return ended.output, "Some files could not be read." if ended.returncode == 2 else ""


def _hint(raw: bytes, input: GrepInput) -> str:
    """Say why there may be nothing to show."""
    if not raw and r"\|" in input.pattern:
        return r"\| stands for the character itself; write alternatives as a|b."
    if b": binary file matches (" in raw and raw.count(b"\n") == 1:
        return "It is a binary file in which the pattern is found; use Bash with strings or xxd."
    return ""


def _whole_lines(output: bytes) -> bytes:
    end = output.rfind(b"\n") if b"\n" in output else output.rfind(b"\0")
    return output[: end + 1]


def _with_hint(reason: str) -> str:
    reason = reason.removeprefix("rg: ")
    if (engines := _ENGINES.search(reason)) is not None:
        # What only the second engine knows, the first has nothing to say about.
        reason = engines[2] if "not supported" in engines[1] else engines[1]
    if "regex parse error" in reason or "error: " in reason or "PCRE2: error" in reason:
        return f"{reason}\nTo search for the characters themselves, escape them with a backslash, such as \\( or \\{{."
    if "unrecognized file type" in reason:
        return f"{reason}. Use glob instead, such as *.ext."
    return reason
