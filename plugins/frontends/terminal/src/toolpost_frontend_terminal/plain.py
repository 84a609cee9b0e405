"""A terminal that can't redraw, or none at all: whole lines only."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from toolpost import Reply

from .asking import STOP
from .clean import one_line
from .outbox import Outbox
from .typed import Lines

if TYPE_CHECKING:
    from toolpost import PermissionMode, SessionDoor, SessionEvent, View

    from .asking import Choice
    from .draw import Drawing
    from .menu import Entry
    from .narrate import Narrator


class PlainStage:
    """Draws lines without colour and reads lines from standard input.

    At a terminal they are read while a turn runs too, and wait as they do in the other one; not where nothing `reads` them.
    """

    def __init__(self, narrator: Narrator, *, reads: bool) -> None:
        from .console import Ansi

        self._narrator = narrator
        self._ansi = Ansi(plain=True)
        self._input = Lines()
        self._outbox = Outbox()
        self._listening: asyncio.Task[None] | None = None
        self._interactive = sys.stdin is not None and sys.stdin.isatty()
        self._hears = reads and self._interactive
        self._turn: SessionDoor | None = None
        self._leaving = self._typed = False
        self._begun = ""

    async def __aenter__(self) -> PlainStage:
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._on_interrupt)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.idle()
        await self._hear_out()
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)

    async def next_line(self) -> str | None:
        """Return what waits, or read a line; one that ends in a backslash goes on with the next."""
        await self._hear_out()
        if (waited := self._outbox.first()) is not None:
            self._typed = False
            return waited
        while True:
            line = await self._read("› " if not self._begun else "  ")
            if line is None:
                return self._joined("")
            self._leaving, self._typed = False, self._interactive
            if (whole := self._joined(line)) is not None:
                return whole

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
        """Let Ctrl-C interrupt, and what is typed wait for the turn's end."""
        del activity
        self._turn = turn
        self._outbox.attach(turn)
        self._listen()

    def idle(self) -> None:
        """Let Ctrl-C leave."""
        self._turn = None
        self._outbox.attach(None)

    async def choose(self, choices: Sequence[Choice]) -> tuple[str, Reply]:
        """Print the choices and read a number; any other text is a no that says why. What was typed before is no answer."""
        await self._hear_out()
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
        await self._hear_out()
        try:
            return await self._input.next()
        except asyncio.CancelledError:
            if self._interactive:
                print(flush=True)  # what comes in between does not stand behind the prompt
            raise
        finally:
            self._listen()

    def _joined(self, line: str) -> str | None:
        """Return a line with those before it that it goes on from; None where it is blank, or goes on itself."""
        begun, self._begun = self._begun, ""
        if line.endswith("\\"):
            self._begun = begun + line[:-1] + "\n"
            return None
        return (begun + line).strip() or None

    # What is typed while a turn runs.

    def _listen(self) -> None:
        if self._hears and self._turn is not None and self._listening is None:
            self._listening = asyncio.create_task(self._hear())

    async def _hear(self) -> None:
        while (line := await self._input.next()) is not None:
            self._send(line)

    async def _hear_out(self) -> None:
        """Read for a prompt or a question again; what was typed before that waits."""
        if self._listening is None:
            return
        listening, self._listening = self._listening, None
        listening.cancel()
        await asyncio.wait({listening})
        for line in self._input.arrived():
            self._send(line)

    def _send(self, line: str) -> None:
        if (text := self._joined(line)) is not None:
            self._outbox.send(text)
            self._print(f"  next: {one_line(text)}")

    def _on_interrupt(self) -> None:
        if self._turn is not None:
            self._turn.interrupt()
            self._print(*(f"  not sent: {one_line(text)}" for text in self._outbox.take_back_all()))
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
