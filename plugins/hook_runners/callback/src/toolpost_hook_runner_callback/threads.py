"""Calls of functions that are not async, beside the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Any


async def in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns, or raise what it raises.

    It has a thread of its own that nothing waits for: one that hangs must not keep the program from its end.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if answer.done():
            return
        if error is None:
            answer.set_result(value)
        else:
            answer.set_exception(error)

    def call() -> None:
        value, error = None, None
        try:
            value = function(*arguments)
        except BaseException as raised:
            error = raised if isinstance(raised, Exception) else RuntimeError(f"{type(raised).__name__}: {raised}")
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, value, error)

    Thread(target=call, daemon=True, name="toolpost hook").start()
    return await answer
