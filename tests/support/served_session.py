"""Sessions with the standard set and the mock Messages API as their service: real HTTP, files and processes.

    async with MockMessagesApi(["Hello."]) as api, opened(api, project) as session:
        events = await run(session)

The test sets ANTHROPIC_API_KEY, which the provider looks for in the environment of the process.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from mock_messages_api import MockMessagesApi

from toolpost import LaunchOptions
from toolpost_core.api import open_session
from toolpost_core.session.session import Session


def opened(
    api: MockMessagesApi,
    project: Path,
    *,
    mode: Any = "bypassPermissions",
    env: Mapping[str, str] | None = None,
    **options: Any,
) -> AbstractAsyncContextManager[Session]:
    """Open a session with the standard set and the mock as its service."""
    os.environ["ANTHROPIC_BASE_URL"] = api.url
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(project.parent / "home"),
        "TOOLPOST_CONFIG_DIR": str(project.parent / "state"),
        "ANTHROPIC_BASE_URL": api.url,
        "ANTHROPIC_API_KEY": "test",
        **(env or {}),
    }
    launch = LaunchOptions(**{"cwd": project, "permission_mode": mode, "trust": True, **options})
    return open_session(launch, env=variables)


@asynccontextmanager
async def following(session: Session, prompt: str = "go") -> AsyncIterator[list[Any]]:
    """Run a prompt beside the test; the list grows with its events."""
    events: list[Any] = []

    async def follow() -> None:
        async for event in session.submit(prompt):
            events.append(event)  # noqa: PERF401 - the test looks at it as it grows

    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        group.create_task(follow())
        yield events


async def until(condition: Any) -> None:
    """Wait for what other tasks do; the test's own time limit bounds it."""
    while not condition():  # noqa: ASYNC110 - files have no events
        await asyncio.sleep(0.005)
