from __future__ import annotations

import asyncio
import threading
from typing import Any

from toolpost import tool
from toolpost_core.tools.leaks import Leaks
from toolpost_core.tools.pool import Entry


@tool
async def forgetful() -> str:
    "Start something and forget it."
    return ""


ENTRY = Entry(forgetful, "acme", "acme-tools")


async def test_a_task_that_a_call_left_is_told_of_once_with_its_place() -> None:
    told: list[str] = []
    leaks, tasks = Leaks(), []

    async def endless() -> None:
        await asyncio.Event().wait()

    for _ in range(2):
        with leaks.watch(ENTRY, told.append):
            tasks.append(asyncio.create_task(endless()))
            await asyncio.sleep(0)
    for task in tasks:
        task.cancel()

    (text,) = told
    for part in ("'forgetful' of 'acme' (acme-tools)", "endless", "test_leaks.py:"):
        assert part in text


async def test_what_ended_and_what_others_started_is_not_told_of() -> None:
    told: list[str] = []
    other = asyncio.create_task(asyncio.sleep(30))
    with Leaks().watch(ENTRY, told.append):
        await asyncio.create_task(asyncio.sleep(0))
    other.cancel()

    assert told == []


async def test_while_another_call_of_the_package_runs_its_tasks_are_not_told_of() -> None:
    told: list[str] = []
    leaks = Leaks()

    async def child() -> None:
        await asyncio.Event().wait()

    with leaks.watch(ENTRY, told.append):
        task = asyncio.create_task(child())
        await asyncio.sleep(0)
        with leaks.watch(ENTRY, told.append):
            pass
        assert told == []
        task.cancel()
        await asyncio.wait({task})

    assert told == []


async def test_a_thread_that_a_call_left_is_told_of() -> None:
    told: list[str] = []
    release = threading.Event()

    def wait(event: Any) -> None:
        event.wait(30)

    with Leaks().watch(ENTRY, told.append):
        thread = threading.Thread(target=wait, args=(release,), name="left-behind", daemon=True)
        thread.start()
    release.set()
    thread.join()

    (text,) = told
    assert "the thread left-behind in test_a_thread_that_a_call_left_is_told_of.<locals>.wait" in text
