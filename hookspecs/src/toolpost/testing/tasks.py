"""`PlainTasks` and `InboxLog`: background work as plain as a test needs it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from toolpost.errors import ToolFailed
from toolpost.services import TaskEnd, TaskInfo, TaskWork

if TYPE_CHECKING:
    from toolpost.queue import Priority
    from toolpost.session_events import Notice


@dataclass
class InboxLog:
    """An Inbox that keeps what was put into it; `expected` counts the texts that are still to come.

    `kinds` says where each text comes from.
    """

    texts: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    expected: int = 0

    def put(
        self,
        text: str,
        *,
        shown: Notice | None = None,
        kind: Literal["task", "hook", "scheduled", "context"] = "context",
        priority: Priority = "next",
    ) -> None:
        """Keep a text and what front ends would hear of it."""
        del priority
        self.texts.append(text)
        self.kinds.append(kind)
        self.notices += [shown] if shown is not None else []

    @contextmanager
    def expect(self) -> Iterator[None]:
        """Count a text that is to come."""
        self.expected += 1
        try:
            yield
        finally:
            self.expected -= 1


class PlainTasks:
    """Tasks that really run; nobody is told of their ends. `works` keeps the work of each by its id."""

    def __init__(self) -> None:
        self.works: dict[str, TaskWork] = {}
        self._infos: dict[str, TaskInfo] = {}
        self._jobs: dict[str, asyncio.Task[TaskEnd]] = {}

    async def begin(self, work: TaskWork) -> TaskInfo:
        """Let work begin and return at once."""
        name = f"task{len(self.works) + 1}"
        self.works[name] = work
        self._infos[name] = TaskInfo(
            task_id=name,
            kind=work.kind,
            description=work.description,
            status="running",
            output_file=work.output_file,
            command=work.command,
            tool_use_id=work.tool_use_id,
        )
        self._jobs[name] = asyncio.ensure_future(work.run())
        await asyncio.sleep(0)
        return self._infos[name]

    def list(self) -> Sequence[TaskInfo]:
        """All tasks, oldest first."""
        return [self.get(name) for name in self.works]

    def get(self, task_id: str) -> TaskInfo:
        """One of them. Raises ToolFailed for an unknown id."""
        if task_id not in self.works:
            raise ToolFailed(f"There is no task {task_id!r}.")
        info, job = self._infos[task_id], self._jobs[task_id]
        if not job.done():
            return info
        if job.cancelled():
            return replace(info, status="stopped")
        return replace(info, status=job.result().status, ending=job.result().ending)

    def output(self, task_id: str) -> str:
        """What it came to so far. Raises ToolFailed for an unknown id."""
        self.get(task_id)
        return self.works[task_id].output()

    async def wait(self, task_id: str, timeout: float) -> TaskInfo:
        """Wait for the end of a task, at most `timeout` seconds. Raises ToolFailed for an unknown id."""
        self.get(task_id)
        await asyncio.wait({self._jobs[task_id]}, timeout=timeout)
        return self.get(task_id)

    async def stop(self, task_id: str) -> TaskInfo:
        """Stop one and wait until it ended. Raises ToolFailed for an unknown id and for a task that does not run."""
        if self.get(task_id).status != "running":
            raise ToolFailed(f"The task {task_id} does not run.")
        self._jobs[task_id].cancel()
        await asyncio.wait({self._jobs[task_id]})
        return self.get(task_id)

    async def aclose(self) -> None:
        """Stop all that run."""
        for job in self._jobs.values():
            job.cancel()
        await asyncio.gather(*self._jobs.values(), return_exceptions=True)
