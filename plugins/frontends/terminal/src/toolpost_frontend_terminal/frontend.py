"""The front end of `toolpost` without `-p`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from toolpost import Frontend, SettingsError, ToolpostError

from .clean import one_line

if TYPE_CHECKING:
    from asyncio import Task
    from collections.abc import Callable, Mapping
    from typing import TextIO

    from toolpost import Diff, Host

    from .plain import PlainStage
    from .screen import Screen

# Loading the input line takes a quarter of a second: what it will look like stands there meanwhile.
_CLEAN_ROW = "\r\x1b[K"
_PREVIEW = "\n\n› "
_UNDO_PREVIEW = "\r\x1b[J\x1b[A"
_SIGNALS = {signal.SIGTERM: 143, signal.SIGHUP: 129}


class Terminal(Frontend):
    """Talks with a person: an input line at the bottom, everything above it in the terminal's own scrollback."""

    async def run(self, host: Host) -> int:
        """Serve until the person leaves, or with `once` in the options' extra until the prompt is answered."""
        from .typeahead import kept

        draws = _can_redraw(os.environ)
        with kept(sys.stdin.fileno()) if draws else nullcontext("") as early, _ending(_SIGNALS) as codes:
            title = _title(host.version, host.options.cwd or Path.cwd())
            print((_CLEAN_ROW if draws else "") + title, end=_PREVIEW if draws else "\n", flush=True)
            try:
                return await _sit(host, draws=draws, early=early)
            except ToolpostError as error:
                print(_wrapped(f"toolpost: error: {error}", _columns(sys.stderr)), file=sys.stderr, flush=True)
                return 2 if isinstance(error, SettingsError) else 1
            except asyncio.CancelledError:
                if not codes:
                    raise
                cast("Task[Any]", asyncio.current_task()).uncancel()
                return codes[0]


@contextmanager
def _ending(signals: Mapping[signal.Signals, int]) -> Iterator[Sequence[int]]:
    """Cancel this task at one of the signals; gives the exit codes of those that came."""
    codes: list[int] = []
    task = cast("Task[Any]", asyncio.current_task())
    loop = asyncio.get_running_loop()

    def end(code: int) -> None:
        codes.append(code)
        task.cancel()

    for number, code in signals.items():
        loop.add_signal_handler(number, end, code)
    try:
        yield codes
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


async def _sit(host: Host, *, draws: bool, early: str) -> int:
    from .locate import locator
    from .repl import Repl

    repl: Repl | None = None

    def folder() -> Path:
        opened = None if repl is None else repl.door
        return opened.cwd if opened is not None else host.options.cwd or Path.cwd()

    locate = locator(folder)
    once = bool(host.options.extra.get("once"))
    async with _screen(locate, os.environ, early, reads=not once) if draws else _plain(locate, reads=not once) as stage:
        repl = Repl(host, stage, locate, interactive=_is_terminal(sys.stdin))
        return await repl.run()


def _can_redraw(env: Mapping[str, str]) -> bool:
    return _is_terminal(sys.stdin) and _is_terminal(sys.stdout) and env.get("TERM", "") not in ("", "dumb")


def _screen(locate: Callable[[Diff], int | None], env: Mapping[str, str], early: str, *, reads: bool) -> Screen:
    from .history import PromptHistory, config_dir
    from .live import Live
    from .narrate import Narrator
    from .paragraphs import Paragraphs
    from .screen import Screen

    narrator = Narrator(Paragraphs(), locate, markdown=True)
    print(end=_UNDO_PREVIEW, flush=True)
    return Screen(narrator, Live(time.monotonic), PromptHistory(config_dir(env)), early=early, reads=reads)


def _plain(locate: Callable[[Diff], int | None], *, reads: bool) -> PlainStage:
    from .narrate import Narrator, WholeLines
    from .plain import PlainStage

    return PlainStage(Narrator(WholeLines(), locate, markdown=False), reads=reads)


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()


def _title(version: str, folder: Path) -> str:
    """`toolpost 1.0  ~/project`, on one row."""
    home, shown = os.environ.get("HOME", ""), str(folder)
    if home and shown.startswith(home + os.sep):
        shown = "~" + shown[len(home) :]
    name = f"toolpost {version}  "
    room = max(8, _columns(sys.stdout) - len(name) - 1)
    return name + one_line(shown if len(shown) <= room else "…" + shown[1 - room :])


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _wrapped(text: str, columns: int) -> str:
    """Break long lines between words; their rest keeps the indentation."""
    from textwrap import fill

    def broken(line: str) -> str:
        indent = " " * (len(line) - len(line.lstrip(" -")))
        return fill(line, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)

    return "\n".join(map(broken, text.split("\n")))
