"""The terminal with its input line at the bottom; everything above it is the terminal's own scrollback."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, cast

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.filters import Condition
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output

from .asked import Asked
from .dialog import Answer, Dialog
from .fit import fit, tail_lines
from .held import HeldOutput
from .keys import bindings
from .layout import build
from .menu import Entry, Menu, Picked
from .outbox import Outbox

if TYPE_CHECKING:
    from asyncio import Task

    from prompt_toolkit.history import History

    from toolpost import PermissionMode, Reply, SessionDoor, SessionEvent, View

    from .asking import Choice
    from .console import Ansi
    from .draw import Drawing
    from .live import Live
    from .narrate import Narrator

FRAME: Final = 1 / 30
"""Seconds between two frames at least."""
SPIN: Final = 0.1
TYPING_PAUSE: Final = 0.5
"""Seconds without a key before a question takes keys: nobody should allow a call by typing on."""


class Screen:
    """Owns the prompt_toolkit application for a whole sitting. Without `reads` there is no input line."""

    def __init__(
        self, narrator: Narrator, live: Live, history: History, *, early: str = "", reads: bool = True
    ) -> None:
        self._narrator = narrator
        self._live = live
        self._held = HeldOutput(sys.stdout)
        self._pending: list[str] = []
        self._outbox = Outbox()
        self._drawn = asyncio.Event()
        self._turn: SessionDoor | None = None
        self._next_mode: Callable[[], PermissionMode] | None = None
        self.asked = Asked(self._focus)
        self._warned = self._warning = False
        self._last_key = 0.0
        self._ansi: Ansi | None = None
        self._spinner: Task[None] | None = None
        self._running: Task[None] | None = None
        self.reads = reads
        self.status_text = ""
        self.hint = ""
        self.input = Buffer(history=history, multiline=True)
        self.reason = Buffer(multiline=False)
        self.app = self._application()
        if reads:
            self._take(early)

    async def __aenter__(self) -> Screen:
        self._running = asyncio.create_task(self.app.run_async(set_exception_handler=False))
        self._running.add_done_callback(lambda _: self.leave())
        drawn = asyncio.create_task(self._drawn.wait())
        try:
            await asyncio.wait([drawn, self._running], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self.idle()
        if self._running is not None:
            if self.app.is_running:
                self.app.exit()
            with suppress(EOFError):  # the terminal is gone
                await self._running
        self._held.write("".join(self._pending))
        self._held.flush()

    async def next_line(self) -> str | None:
        """Return what was sent first of what waits."""
        line = await self._outbox.next()
        self.app.invalidate()
        return line

    def show(self, kind: str, *drawings: Drawing) -> None:
        """Draw with the next frame."""
        self._draw(*self._narrator.other(kind, *drawings))

    def follow(self, event: SessionEvent) -> None:
        """Draw with the next frame, and move what goes on."""
        self._live.follow(event)
        self._draw(*self._narrator.tell(event))

    def seen(self, view: View | None) -> None:
        """Remember that a question showed this."""
        self._narrator.seen(view)

    def busy(self, activity: str, turn: SessionDoor | None = None) -> None:
        """Turn the spinner until `idle`."""
        self._turn = turn
        self._outbox.attach(turn)
        self._live.begin(activity, "Esc interrupts" if turn is not None else "")
        self._spinner = self._spinner or asyncio.create_task(self._spin())
        self.app.invalidate()

    def idle(self) -> None:
        """Stop the spinner."""
        self._turn = None
        self._outbox.attach(None)
        self._live.end()
        if self._spinner is not None:
            self._spinner.cancel()
            self._spinner = None
        self.app.invalidate()

    async def choose(self, choices: Sequence[Choice]) -> tuple[str, Reply]:
        """Put the choices in the place of the input line, once the person does not type."""
        while (wait := self._last_key + TYPING_PAUSE - time.monotonic()) > 0:  # noqa: ASYNC110 - each key lengthens it
            await asyncio.sleep(wait)
        try:
            return cast("Answer", await self.asked.put(Dialog(tuple(choices))))
        finally:
            self.reason.reset()

    async def pick(self, entries: Sequence[Entry]) -> int | None:
        """Put the entries in the place of the input line."""
        return cast("Picked", await self.asked.put(Menu(tuple(entries)))).index

    def fill(self, text: str) -> None:
        """Put the text into the input line, to be changed and sent."""
        self.input.text = text
        self.input.cursor_position = len(text)
        self.app.invalidate()

    def status(self, text: str, next_mode: Callable[[], PermissionMode] | None = None) -> None:
        """Show the text below the input line."""
        self.status_text, self._next_mode = text, next_mode
        self.app.invalidate()

    @property
    def columns(self) -> int:
        """How wide the terminal is."""
        return self._size().columns

    @property
    def is_busy(self) -> bool:
        """Whether something runs that may be interrupted."""
        return self._turn is not None

    @property
    def has_waiting(self) -> bool:
        """Whether something was sent that nobody has read."""
        return bool(self._outbox.waiting())

    def send(self) -> None:
        """Take the input line as sent."""
        text = self.input.text.strip()
        if text:
            self.input.append_to_history()
            self._outbox.send(text)
        self.input.reset()

    def leave(self) -> None:
        """Take no more lines, and call off what waits to be read."""
        self._outbox.close()
        if self._turn is not None:
            self._turn.interrupt()

    def interrupt(self) -> None:
        """Interrupt what runs; what waited to be read goes back into the input line."""
        if self._turn is not None:
            self._turn.interrupt()
        waiting = self._outbox.take_back_all()
        if waiting:
            self.fill("\n".join([*waiting, *filter(None, [self.input.text])]))

    def edit_waiting(self) -> None:
        """Put what was sent last, and nobody has read yet, back into the input line."""
        text = self._outbox.take_back()
        if text is not None:
            self.fill(text)

    @property
    def wants_to_leave(self) -> bool:
        """Whether Ctrl-C was the key before this one."""
        return self._warned

    def warn_of_leaving(self) -> None:
        """Say that Ctrl-C leaves when it is pressed again."""
        self._warning, self.hint = True, "Ctrl-C again leaves"

    @property
    def dialog(self) -> Dialog | Menu | None:
        """What is asked in the place of the input line."""
        return self.asked.dialog

    def next_mode(self) -> None:
        """Change to the next permission mode."""
        if self._next_mode is not None:
            self._next_mode()

    def live_lines(self) -> list[Sequence[tuple[str, str]]]:
        """Return the changing lines above the input line, fitted to the terminal."""
        size = self._size()
        if self.dialog is not None:
            lines = self.dialog.lines(size.columns, size.rows)
        else:
            tail = tail_lines(self._narrator.tail, size.columns, max(3, size.rows - 10))
            lines = self._live.lines(tail, self._outbox.waiting())
        apart: list[Sequence[tuple[str, str]]] = [[]] if lines else []
        return [*apart, *(fit(line, size.columns) for line in lines)]

    def _application(self) -> Application[None]:
        app: Application[None] = Application(
            layout=build(self),
            key_bindings=bindings(self, Condition(lambda: self.dialog is not None)),
            output=Vt100_Output(self._held, self._size, term=os.environ.get("TERM"), enable_cpr=False),  # type: ignore[arg-type]
            color_depth=ColorDepth.from_env(),
            erase_when_done=True,
            min_redraw_interval=FRAME,
            before_render=self._before_frame,
            after_render=self._after_frame,
        )
        app.timeoutlen, app.ttimeoutlen = 0.2, 0.05
        app.key_processor.before_key_press += self._on_key
        return app

    def _take(self, early: str) -> None:
        """Send the whole lines that were typed before the input line was there; what follows them stays in it."""
        *lines, self.input.text = early.split("\n")
        self.input.cursor_position = len(self.input.text)
        for line in filter(None, map(str.strip, lines)):
            self._outbox.send(line)

    def _size(self) -> Size:
        try:
            columns, rows = os.get_terminal_size(self._held.fileno())
        except OSError:
            columns, rows = 80, 24
        return Size(rows=rows or 24, columns=columns or 80)

    def _draw(self, *drawings: Drawing) -> None:
        if drawings:
            self._pending.append(self._to_ansi(drawings))
        self.app.invalidate()

    def _to_ansi(self, drawings: Sequence[Drawing]) -> str:
        if self._ansi is None:
            from .console import Ansi

            self._ansi = Ansi()
        return self._ansi.text(drawings, self._size().columns).replace("\n", "\r\n")

    def _before_frame(self, _: object) -> None:
        """Put what is drawn for good above the application, in the same frame."""
        self._held.hold()
        if self._pending:
            self.app.renderer.erase()
            self._held.write("".join(self._pending))
            self._pending.clear()

    def _after_frame(self, _: object) -> None:
        self._held.release()
        self._drawn.set()

    def _on_key(self, _: object) -> None:
        if self.dialog is None:
            self._last_key = time.monotonic()
        self._warned, self._warning, self.hint = self._warning, False, ""

    def _focus(self) -> None:
        if self.dialog is None:
            self.app.layout.focus(self.input)
        elif self.dialog.writing:
            self.app.layout.focus(self.reason)
        self.app.invalidate()

    async def _spin(self) -> None:
        while True:
            await asyncio.sleep(SPIN)
            self.app.invalidate()
