"""`BackgroundTasks`: the tasks of one session."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from toolpost import TaskEnd, ToolFailed

from .notice import for_front_ends, for_model

if TYPE_CHECKING:
    from toolpost import Inbox, TaskInfo, TaskWork


@dataclass
class _Entry:
    """A task. Who waits for its end, or stopped it, needs no notice of it."""

    info: TaskInfo
    work: TaskWork
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: int = 0
    stopped: bool = False
    job: asyncio.Task[None] | None = None


class BackgroundTasks:
    """The `Tasks` of one session; `aclose` stops all that still run."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._entries: dict[str, _Entry] = {}

    async def begin(self, work: TaskWork) -> TaskInfo:
        """Let work begin and return at once."""
        from toolpost import TaskInfo

        info = TaskInfo(
            task_id=self._new_id(work.kind),
            kind=work.kind,
            description=work.description,
            status="running",
            output_file=work.output_file,
            command=work.command,
            tool_use_id=work.tool_use_id,
        )
        entry = self._entries[info.task_id] = _Entry(info, work)
        entry.job = asyncio.create_task(self._do(entry), name=f"background {info.task_id}")
        try:
            # What is cancelled before its first step never ran at all, and would not end what was started for it.
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            await self._stop(entry)
            raise
        return info

    def list(self) -> Sequence[TaskInfo]:
        """All tasks of the session, oldest first."""
        return tuple(entry.info for entry in self._entries.values())

    def get(self, task_id: str) -> TaskInfo:
        """One of them. Raises ToolFailed for an unknown id."""
        return self._entry(task_id).info

    def output(self, task_id: str) -> str:
        """What it came to so far, as a text for the model. Raises ToolFailed for an unknown id."""
        return self._entry(task_id).work.output()

    async def wait(self, task_id: str, timeout: float) -> TaskInfo:
        """Wait for the end of a task, at most `timeout` seconds. Raises ToolFailed for an unknown id."""
        entry = self._entry(task_id)
        entry.waiting += 1
        try:
            async with asyncio.timeout(timeout):
                await entry.ended.wait()
        except TimeoutError:
            pass
        finally:
            entry.waiting -= 1
        return entry.info

    async def stop(self, task_id: str) -> TaskInfo:
        """Stop one and wait until it ended. Raises ToolFailed for an unknown id and for a task that does not run."""
        entry = self._entry(task_id)
        if entry.info.status != "running":
            raise ToolFailed(f"The task {task_id} does not run: it {_past(entry.info)}.")
        await self._stop(entry)
        return entry.info

    async def aclose(self) -> None:
        """Stop all that still run."""
        await asyncio.gather(*(self._stop(entry) for entry in self._entries.values() if not entry.ended.is_set()))

    async def _do(self, entry: _Entry) -> None:
        with self._expected(entry.work.awaited):
            try:
                end = await entry.work.run()
            except Exception as error:
                end = TaskEnd("failed", f"{type(error).__name__}: {error}")
            except asyncio.CancelledError:
                entry.info = replace(entry.info, status="stopped")
                entry.ended.set()
                raise
            entry.info = replace(entry.info, status=end.status, ending=end.ending)
            entry.ended.set()
            if not entry.waiting and not entry.stopped:
                self._inbox.put(for_model(entry.info), shown=for_front_ends(entry.info), kind="task")

    @contextmanager
    def _expected(self, seconds: float) -> Iterator[None]:
        """Let a session without a person wait for what is entered here, but no longer than that."""
        with ExitStack() as expectation:
            if seconds > 0:
                expectation.enter_context(self._inbox.expect())
                expectation.callback(asyncio.get_running_loop().call_later(seconds, expectation.close).cancel)
            yield

    async def _stop(self, entry: _Entry) -> None:
        assert entry.job is not None
        entry.stopped = True
        entry.job.cancel()
        await asyncio.wait({entry.job})

    def _entry(self, task_id: str) -> _Entry:
        entry = self._entries.get(task_id)
        if entry is None:
            known = ", ".join(self._entries) or "none"
            raise ToolFailed(f"No background task has the id {task_id!r}. The tasks of this session: {known}.")
        return entry

    def _new_id(self, kind: str) -> str:
        while (name := f"{kind.rpartition('_')[2][:1]}{secrets.token_hex(4)}") in self._entries:
            pass
        return name


def _past(task: TaskInfo) -> str:
    return {"completed": "is completed", "stopped": "was stopped"}.get(task.status, "failed") + (
        f" ({task.ending})" if task.ending else ""
    )
