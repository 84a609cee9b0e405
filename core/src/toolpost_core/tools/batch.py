"""The batch executor: for answers that came as a whole."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from toolpost_core.tools.executor import RunCall, StreamingExecutor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from toolpost import ToolUse
    from toolpost_core.tools.calls import CallResult


def partition(calls: Sequence[ToolUse], is_safe: Callable[[ToolUse], bool]) -> Iterator[tuple[bool, list[ToolUse]]]:
    """Yield batches in order: consecutive safe calls together, each unsafe call alone."""
    batch: list[ToolUse] = []
    for call in calls:
        if is_safe(call):
            batch.append(call)
            continue
        if batch:
            yield True, batch
            batch = []
        yield False, [call]
    if batch:
        yield True, batch


async def run_batch(
    calls: Sequence[ToolUse], run: RunCall, is_safe: Callable[[ToolUse], bool], apply: Callable[[CallResult], None]
) -> list[CallResult]:
    """Run the calls of one answer, batch by batch; results come in the order of the calls."""
    results: list[CallResult] = []
    for safe, batch in partition(calls, is_safe):
        async with asyncio.TaskGroup() as group:
            executor = StreamingExecutor(run, partial(_constant, safe), apply, group)
            for call in batch:
                executor.add(call)
            results += [result async for result in executor.results()]
    return results


def _constant(safe: bool, _: ToolUse) -> bool:
    return safe
