"""How long loading a plugin may take, and how it is given up."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Final

VARIABLE: Final = "TOOLPOST_PLUGIN_LOAD_TIMEOUT"
DEFAULT: Final = 10.0
AGAIN: Final = 1.0
"""Seconds after which code that got away from the first alarm gets another."""


class LoadTimeoutError(BaseException):
    """Raised in the midst of a plugin that takes too long; no Exception, since those are what its code may catch."""


def load_limit() -> float:
    """Return the seconds that loading one plugin may take; 0 for any time."""
    try:
        return max(0.0, float(os.environ.get(VARIABLE, DEFAULT)))
    except ValueError:
        return DEFAULT


class Limit:
    """Raises LoadTimeoutError in its block when that takes longer than so many seconds.

    An alarm interrupts the block in the way that Ctrl-C does, so nothing of it is left running and an import is undone;
    arming one takes microseconds. There is no limit beside the main thread, where the system has no alarms, where the
    program set one of its own, and to code in C that never comes back to the interpreter.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._before: Any = None
        self._armed = False

    def __enter__(self) -> None:
        if self._seconds and _can_set():
            self._before = signal.signal(signal.SIGALRM, self._ring)
            self._armed = True
            signal.setitimer(signal.ITIMER_REAL, self._seconds, AGAIN)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._armed:
            self._armed = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before if self._before is not None else signal.SIG_DFL)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self._armed:
            raise LoadTimeoutError(
                f"it took longer than {self._seconds:g} s to load and was given up (${VARIABLE} sets another limit)"
            )


def _can_set() -> bool:
    return (
        hasattr(signal, "setitimer")
        and threading.get_ident() == threading.main_thread().ident
        and signal.getitimer(signal.ITIMER_REAL)[0] == 0
    )
