"""Whose fault an exception is: that of the code that was called, or a wish to end the caller."""

from __future__ import annotations

import asyncio


def is_own(error: BaseException) -> bool:
    """Whether an exception belongs to the code that raised it and ends with it.

    Not so is Ctrl-C, and the cancelling of the task that runs now. A plugin's SystemExit is, and a CancelledError that
    nobody asked for.
    """
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is None or task.cancelling() == 0
    return not isinstance(error, KeyboardInterrupt | GeneratorExit)
