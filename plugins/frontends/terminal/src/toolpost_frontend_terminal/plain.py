"""A terminal that can't redraw, or none at all: whole lines only."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from toolpost import Reply

from .asking import STOP
from .clean import one_line

if TYPE_CHECKING:
    from asyncio import Future

    from toolpost import PermissionMode, SessionDoor, SessionEvent, View

    from .asking import Choice
    from .draw import Drawing
    from .menu import Entry
    from .narrate import Narrator


class PlainStage:
    """Draws lines without colour and reads lines from standard input."""

    def __init__(self, narrator: Narrator) -> None:
        from .console import Ansi

        self._narrator = narrator
        self._ansi = Ansi(plain=True)
        self._input = _Lines()
        self._interactive = sys.stdin is not None and sys.stdin.isatty()
        self._turn: SessionDoor | None = None
        self._leaving = self._typed = False
        self._begun = ""

    async def __aenter__(self) -> PlainStage:
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._on_interrupt)
        return self

    async def __aexit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)

    async def next_line(self) -> str | None:
        """Read a line; one that ends in a backslash goes on with the next."""
        while True:
            line = await self._read("› " if not self._begun else "  ")
            begun, self._begun = self._begun, ""
            if line is None:
                return begun.strip() or None
            self._leaving, self._typed = False, self._interactive
            if line.endswith("\\"):
                self._begun = begun + line[:-1] + "\n"
            elif (begun + line).strip():
                return (begun + line).strip()

    def show(self, kind: str, *drawings: Drawing) -> None:
        """Print at once; a prompt that was typed stands there already."""
        if kind == "prompt" and self._typed:
            self._typed, drawings = False, ()
        self._print(*self._narrator.other(kind, *drawings))

    def follow(self, event: SessionEvent) -> None:
        """Print what the event leaves."""
        self._print(*self._narrator.tell(event))

    def seen(self, view: View | None) -> None:
        """Remember that a question showed this."""
        self._narrator.seen(view)

    def busy(self, activity: str, turn: SessionDoor | None = None) -> None:
        """Let Ctrl-C interrupt."""
        del activity
        self._turn = turn

    def idle(self) -> None:
        """Let Ctrl-C leave."""
        self._turn = None

    async def choose(self, choices: Sequence[Choice]) -> tuple[str, Reply]:
        """Print the choices and read a number; any other text is a no that says why."""
        self._print(*(f"  {number}. {choice.label}" for number, choice in enumerate(choices, 1)))
        while True:
            line = await self._read("Number, or what to do instead: ")
            if line is None:
                return "No", STOP
            text = line.strip()
            chosen = _chosen(text, choices)
            if chosen is not None and chosen.reply is not None:
                return chosen.label, chosen.reply
            if chosen is not None:
                text = (await self._read("What should be done instead? ") or "").strip()
            if text or chosen is not None:
                return (f"No: {one_line(text)}" if text else "No"), Reply(allow=False, feedback=text)

    async def pick(self, entries: Sequence[Entry]) -> int | None:
        """Print the entries and read a number; anything else takes none."""
        self._print(*(f"  {n}. {e.label}{f'  {e.note}' if e.note else ''}" for n, e in enumerate(entries, 1)))
        text = (await self._read("Number, or Enter to leave everything as it is: ") or "").strip()
        return int(text) - 1 if text.isdecimal() and 1 <= int(text) <= len(entries) else None

    def fill(self, text: str) -> None:
        """Print the text, to be copied: there is no line to put it into."""
        self._print(text)

    def status(self, text: str, next_mode: Callable[[], PermissionMode] | None = None) -> None:
        """There is no corner to show it in."""

    def _print(self, *drawings: Drawing) -> None:
        if drawings:
            sys.stdout.write(self._ansi.text(drawings, get_terminal_size().columns))
            sys.stdout.flush()

    async def _read(self, prompt: str) -> str | None:
        if self._interactive:
            sys.stdout.write(prompt)
            sys.stdout.flush()
        try:
            return await self._input.next()
        except asyncio.CancelledError:
            if self._interactive:
                print(flush=True)  # what comes in between does not stand behind the prompt
            raise

    def _on_interrupt(self) -> None:
        if self._turn is not None:
            self._turn.interrupt()
        elif self._leaving:
            self._input.end()
        else:
            self._leaving = True
            print("\nCtrl-C again leaves.\n› ", end="", flush=True)


def _chosen(text: str, choices: Sequence[Choice]) -> Choice | None:
    if text.isdecimal() and 1 <= int(text) <= len(choices):
        return choices[int(text) - 1]
    words = {"y": 0, "yes": 0, "n": len(choices) - 1, "no": len(choices) - 1}
    return choices[words[text.lower()]] if text.lower() in words else None


class _Lines:
    """The lines of standard input, read without holding up the event loop."""

    def __init__(self) -> None:
        self._fd = None if sys.stdin is None or sys.stdin.closed else sys.stdin.fileno()
        self._pending = b""
        self._waiting: Future[None] | None = None

    async def next(self) -> str | None:
        """Return the next line without its end; None at EOF."""
        while self._fd is not None and b"\n" not in self._pending:
            await self._readable(self._fd)
            try:
                data = b"" if self._fd is None else os.read(self._fd, 65536)
            except OSError:
                data = b""
            if not data:
                self._fd = None
            self._pending += data
        if not self._pending:
            return None
        line, _, self._pending = self._pending.partition(b"\n")
        return line.decode("utf-8", "replace").removesuffix("\r")

    def end(self) -> None:
        """Take no more lines."""
        self._fd, self._pending = None, b""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def _readable(self, fd: int) -> None:
        loop = asyncio.get_running_loop()
        waiting = self._waiting = loop.create_future()

        def ready() -> None:
            if not waiting.done():
                waiting.set_result(None)

        try:
            loop.add_reader(fd, ready)
        except (PermissionError, NotImplementedError):  # a file, which is always ready
            return
        try:
            await waiting
        finally:
            loop.remove_reader(fd)
