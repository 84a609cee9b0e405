"""Leaving the process: quickly, and quietly where nobody reads any more."""

from __future__ import annotations

import os
import sys
from collections.abc import Coroutine
from contextlib import suppress
from io import TextIOWrapper
from typing import Any, Final

TERMINATED: Final = 143
HUNG_UP: Final = 129


def prepare_streams() -> None:
    """Let nothing that is printed fail for want of a character: it is written as an escape.

    A standard stream that was closed leads nowhere: no file that is opened later may get its number.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        if descriptor == 1:
            sys.stdout = os.fdopen(descriptor, "w", encoding="utf-8", closefd=False)
    os.close(descriptor)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def complain(text: str) -> None:
    """Tell the person on standard error, where there is one."""
    if sys.stderr is not None and not sys.stderr.closed:
        with suppress(OSError):
            print(f"toolpost: {text}", file=sys.stderr, flush=True)


def tell_notes(error: BaseException | None) -> None:
    """Tell what was noted on an error: what was under way as Ctrl-C came."""
    for note in getattr(error, "__notes__", ()):
        complain(note)


def crash(error: BaseException) -> int:
    """Tell of an error that nobody foresaw, with its trace; return the exit code."""
    import traceback

    complain(f"this is a fault of Toolpost, please report it: {type(error).__name__}: {error}")
    complain("".join(traceback.format_exception(error)))
    return 1


def run_async(work: Coroutine[Any, Any, int | None]) -> int:
    """Run a coroutine to its end and return its exit code.

    SIGTERM calls it off, so that it closes what it opened; so does a terminal that is closed, unless `nohup` has us go on.
    """
    import asyncio
    import signal

    async def main() -> int:
        task = asyncio.ensure_future(work)
        codes: list[int] = []

        def terminate(code: int) -> None:
            codes.append(code)
            task.cancel()

        with suppress(NotImplementedError, AttributeError):  # Windows has no such signals
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate, TERMINATED)
            if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
                asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, terminate, HUNG_UP)
        try:
            return await task or 0
        except asyncio.CancelledError:
            if not codes:
                raise  # Ctrl-C, which the runner turns into KeyboardInterrupt
            return codes[0]

    return asyncio.run(main())


def leave(code: int) -> None:
    """End the process at once: what had to be closed was closed, and the interpreter's own taking down costs more.

    Returns where a tracer or profiler still has to write its results.
    """
    code = _flushed(code)
    if sys.gettrace() is None and sys.getprofile() is None:
        os._exit(code)


def mute_stdout() -> None:
    """Send what is still written to standard output nowhere: its reader has gone."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _flushed(code: int) -> int:
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except (OSError, ValueError) as error:
            if stream is sys.stdout and not isinstance(error, BrokenPipeError):
                complain(f"standard output can't be written: {error}")
            code = code or 1
    return code
