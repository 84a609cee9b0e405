"""One command in a fresh bash: its output in a file, its last folder in another."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toolpost import Aborted

if TYPE_CHECKING:
    from toolpost import AbortSignal, Processes
    from toolpost.services import Process

# Longer ones would not fit into one argument of a program (131,072 bytes on Linux).
_MOST_ARGUMENT = 100_000
_UNSET = ("BASH_ENV", "ENV", "CDPATH", "GLOBIGNORE", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "BASH_XTRACEFD")
_SET = {
    "TOOLPOST": "1",
    "GIT_EDITOR": "true",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_PAGER": "cat",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "TERM": "dumb",
}


MOST_OUTPUT = 2_000_000_000
"""Bytes of output at which a command is ended: it goes to a file, and would fill the disk until the time-out."""


@dataclass(frozen=True)
class Running:
    """A command that was started, the file that collects its output, and the file that gets its last folder."""

    process: Process
    output: Path
    folder_file: Path


@dataclass(frozen=True)
class Ended:
    """How a command came to its end; `folder` is where it left off, if it got so far to say.

    `flooded` says that it was ended because it wrote more than a disk should hold.
    """

    code: int
    timed_out: bool
    folder: Path | None
    flooded: bool = False


async def start(command: str, *, processes: Processes, cwd: Path, env: Mapping[str, str], folder: Path) -> Running:
    """Start a command; raises OSError where bash or the folder is not there. The caller removes the files."""
    name = f"bash-{uuid.uuid4().hex[:12]}"
    running_in = folder / f"{name}.cwd"
    output = folder / f"{name}.txt"
    script_file = folder / f"{name}.sh"
    fd = os.open(output, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)
    # The folder is told by a trap, so that `exit` and `set -e` lose nothing; a file, because a descriptor would be
    # inherited by everything that the command starts.
    setup = f"exec >&{fd} 2>&1 {fd}>&-; trap {shlex.quote(f'pwd -P >{shlex.quote(str(running_in))}')} EXIT\n"
    try:
        if len(command) <= _MOST_ARGUMENT // 4 or len(command.encode()) <= _MOST_ARGUMENT:
            argv = ["bash", "--noprofile", "--norc", "-c", setup + command + "\n"]
        else:
            script_file.write_text(setup + f"rm -f {shlex.quote(str(script_file))}\n" + command + "\n", "utf-8")
            argv = ["bash", "--noprofile", "--norc", str(script_file)]
        kept = {key: value for key, value in env.items() if key not in _UNSET}
        process = await processes.start(argv, cwd=cwd, env={**kept, **_SET}, merge_errors=True, pass_fds=(fd,))
    except BaseException:
        output.unlink(missing_ok=True)
        script_file.unlink(missing_ok=True)
        raise
    finally:
        os.close(fd)
    return Running(process, output, running_in)


async def wait(
    running: Running, *, timeout: float, abort: AbortSignal, tell: Callable[[float], None] | None = None
) -> Ended:
    """Wait for the end; `tell` is called each second with the seconds so far.

    At the time-out, at an abort and at `MOST_OUTPUT` everything that the command started is ended. Raises Aborted.
    """
    process = running.process
    started = time.monotonic()
    end = asyncio.ensure_future(process.wait())
    called_off = asyncio.ensure_future(abort.wait())
    timed_out = flooded = False
    try:
        while not end.done() and not called_off.done() and not timed_out and not flooded:
            left = started + timeout - time.monotonic()
            await asyncio.wait({end, called_off}, timeout=min(1.0, left), return_when=asyncio.FIRST_COMPLETED)
            elapsed = time.monotonic() - started
            timed_out = not end.done() and elapsed >= timeout
            flooded = not end.done() and not timed_out and _size(running.output) > MOST_OUTPUT
            if tell is not None and elapsed >= 1 and not end.done():
                tell(elapsed)
        if not end.done():
            await process.stop(grace=0.5 if timed_out else 0.05)
            if not timed_out and not flooded:
                raise Aborted(called_off.result())
        await process.read()
        return Ended(process.returncode or 0, timed_out, _folder(running.folder_file), flooded)
    finally:
        called_off.cancel()
        if process.returncode is None:
            await asyncio.shield(asyncio.ensure_future(process.stop()))
        end.cancel()
        running.folder_file.unlink(missing_ok=True)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _folder(told: Path) -> Path | None:
    with contextlib.suppress(OSError, ValueError):
        text = told.read_text("utf-8", errors="surrogateescape").removesuffix("\n")
        if text and Path(text).is_dir():
            return Path(text)
    return None
