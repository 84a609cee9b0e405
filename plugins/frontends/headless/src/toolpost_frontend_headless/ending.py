"""How a run ends before its time: a signal, or nobody left who reads."""

from __future__ import annotations

import asyncio
import signal
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from asyncio import Task

    from toolpost import SessionDoor
    from toolpost.context import AbortReason

EXIT_CODES: Final[dict[int, int]] = {signal.SIGINT: 130, signal.SIGTERM: 143}
HUNG_UP: Final = 129
_REASONS: Final[dict[int, AbortReason]] = {130: "user_cancel", 143: "engine_stop", HUNG_UP: "engine_stop"}
GRACE: Final = 5.0
"""Seconds that a turn has to end by itself after it was asked to."""


class Ending:
    """Ends the current task: the turn that runs tidily first, so that its result is still written, then all the rest.

    As a context manager it listens for SIGINT, SIGTERM, and the end of the terminal unless `nohup` has us outlive that.
    `code` is the exit code that the cause asks for.
    """

    def __init__(self, task: Task[Any]) -> None:
        self.code: int | None = None
        self.turn: SessionDoor | None = None
        self._task = task
        self._deadline: asyncio.TimerHandle | None = None

    def begin(self, code: int) -> None:
        """End the run with this exit code; the second time at once."""
        again = self.code is not None
        self.code = code if self.code is None else self.code
        if self.turn is None or again:
            self._task.cancel()
            return
        self.turn.interrupt(_REASONS.get(code, "user_cancel"))
        self._deadline = asyncio.get_running_loop().call_later(GRACE, self._task.cancel)

    def __enter__(self) -> Self:
        for number, code in _signals().items():
            try:
                asyncio.get_running_loop().add_signal_handler(number, self.begin, code)
            except (NotImplementedError, RuntimeError):  # Windows, or not the main thread: asyncio.run's own way holds
                break
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        for number in _signals():
            try:
                asyncio.get_running_loop().remove_signal_handler(number)
            except (NotImplementedError, RuntimeError):
                break


def _signals() -> dict[int, int]:
    """Return the exit code of each signal that ends a run; Windows has no SIGHUP."""
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is None or signal.getsignal(hangup) is signal.SIG_IGN:
        return EXIT_CODES
    return {**EXIT_CODES, hangup: HUNG_UP}
