"""When a call may start, and in which order results are handed back."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from asyncio import Task, TaskGroup
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from toolpost import ToolUse
    from toolpost_core.tools.calls import CallResult

RunCall: TypeAlias = "Callable[[ToolUse], Awaitable[CallResult]]"
CONCURRENCY: Final = 10


class StreamingExecutor:
    """Starts each call as soon as its turn has come; hands results back in the order of the calls.

    A safe call waits for the last unsafe call before it, an unsafe one for all before it. What results change in the
    context (`apply`) is applied at once for an unsafe call, and for safe ones in their order before the next unsafe one
    starts.
    """

    def __init__(
        self,
        run: RunCall,
        is_safe: Callable[[ToolUse], bool],
        apply: Callable[[CallResult], None],
        group: TaskGroup,
        limit: int | None = None,
    ) -> None:
        self._run, self._is_safe, self._apply, self._group = run, is_safe, apply, group
        self._slots = asyncio.Semaphore(limit or concurrency())
        self._calls: list[Task[CallResult]] = []
        self._barrier: list[Task[CallResult]] = []
        self._shared: list[Task[CallResult]] = []

    def add(self, call: ToolUse) -> None:
        """Let a call start when its turn comes."""
        if self._is_safe(call):
            task = self._group.create_task(self._run_after(tuple(self._barrier), call))
            self._shared.append(task)
        else:
            before, batch = (*self._barrier, *self._shared), tuple(self._shared)
            task = self._group.create_task(self._run_alone(before, batch, call))
            self._barrier, self._shared = [task], []
        self._calls.append(task)

    def __len__(self) -> int:
        return len(self._calls)

    async def results(self) -> AsyncIterator[CallResult]:
        """Yield the results in the order of the calls."""
        for call in self._calls:
            yield await call
        self._settle(self._shared)

    async def _run_after(self, before: Sequence[Task[CallResult]], call: ToolUse) -> CallResult:
        if before:
            await asyncio.wait(before)
        async with self._slots:
            return await self._run(call)

    async def _run_alone(
        self, before: Sequence[Task[CallResult]], batch: Sequence[Task[CallResult]], call: ToolUse
    ) -> CallResult:
        if before:
            await asyncio.wait(before)
        self._settle(batch)
        async with self._slots:
            result = await self._run(call)
        self._apply(result)
        return result

    def _settle(self, batch: Sequence[Task[CallResult]]) -> None:
        for task in batch:
            if not task.cancelled() and task.exception() is None:
                self._apply(task.result())


def concurrency() -> int:
    """Return how many calls may run at once: TOOLPOST_MAX_TOOL_USE_CONCURRENCY, by default 10."""
    try:
        return max(1, int(os.environ.get("TOOLPOST_MAX_TOOL_USE_CONCURRENCY", CONCURRENCY)))
    except ValueError:
        return CONCURRENCY
