"""Standard output that keeps what is written while a frame is drawn, so that it reaches the terminal at once."""

from __future__ import annotations

import io
import os
import select
from typing import TextIO


class HeldOutput(io.TextIOBase):
    """Writes to a terminal; `hold` and `release` enclose a frame."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal
        self._held = False
        self._kept: list[str] = []

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The terminal's encoding."""
        return self._terminal.encoding or "utf-8"

    def fileno(self) -> int:
        """Return the terminal's descriptor."""
        return self._terminal.fileno()

    def isatty(self) -> bool:
        """Whether there is a terminal."""
        return self._terminal.isatty()

    def write(self, text: str) -> int:
        """Keep the text until it is flushed outside a frame."""
        self._kept.append(text)
        return len(text)

    def flush(self) -> None:
        """Send what was kept, unless a frame is being drawn."""
        if self._held or not self._kept:
            return
        data = memoryview("".join(self._kept).encode(self.encoding, "replace"))
        self._kept.clear()
        while data:
            try:
                data = data[os.write(self.fileno(), data) :]
            except BlockingIOError:
                select.select([], [self.fileno()], [], 1)
            except OSError:  # the terminal is gone: nobody is left who could read it
                return

    def hold(self) -> None:
        """Begin a frame."""
        self._held = True

    def release(self) -> None:
        """End the frame and show it."""
        self._held = False
        self.flush()
