"""Many runs beside each other, each with a seed and a folder of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeAlias, TypeVar

from tests.integration.chaos.scenario import expected

R = TypeVar("R")
Play: TypeAlias = Callable[[int, Path, Mapping[str, str]], Awaitable[R]]


async def campaign(folder: Path, seeds: Iterable[int], play: Play[R], *, beside: int = 4) -> AsyncIterator[R]:
    """Yield what became of each seed as it ends; `beside` runs go on at the same time, as most of one is waiting."""
    wanted = expected(folder / "wanted")
    free = asyncio.Semaphore(beside)
    done: asyncio.Queue[R] = asyncio.Queue()

    async def one(seed: int) -> None:
        async with free:
            place = folder / f"seed{seed}"
            place.mkdir()
            await done.put(await play(seed, place, wanted))

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(seed)) for seed in seeds]
        for _ in tasks:
            yield await done.get()
