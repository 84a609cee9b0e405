"""The contract kit of hook runners."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from toolpost.hook_runners import HookAnswer, HookJob
from toolpost.testing._contract import PluginContract, finish, quickest
from toolpost.testing.context import make_scope

_TIMEOUT = 0.3


class HookRunnerContract(PluginContract):
    """The suite for a hook runner.

    Each handler is a hook's entry in the settings: one that works, one that blocks, one that takes longer than its time,
    one that can't work. None for what the type does not have.
    """

    group = "hook_runners"
    works: ClassVar[Mapping[str, Any]]
    blocks: ClassVar[Mapping[str, Any] | None] = None
    too_slow: ClassVar[Mapping[str, Any] | None] = None
    broken: ClassVar[Mapping[str, Any] | None] = None
    services: ClassVar[Mapping[Any, object]] = {}
    within: ClassVar[float] = 2.0
    """Seconds that a hook may take to its end after its time is up, or after it was cancelled."""

    def test_it_says_which_type_it_runs(self) -> None:
        """If this fails: set `type` to the word that stands in the hook's entry, by which core finds the runner."""
        assert self.make().type == self.works["type"]

    def test_a_hook_that_works_is_ok(self, folder: Path) -> None:
        """If this fails: status `ok` is for a hook that ran and did not block; any other is told to the person."""
        assert self._run(folder, self.works).status == "ok"

    def test_a_hook_that_blocks_says_why(self, folder: Path) -> None:
        """If this fails: status `blocked` comes with the reason that the hook gave: the model reads it."""
        answer = self._run(folder, self._of("blocks"))
        assert (answer.status, bool(answer.reason.strip())) == ("blocked", True)

    def test_a_hook_that_takes_too_long_is_ended(self, folder: Path) -> None:
        """If this fails: end the hook and all that it started at job.timeout, and answer `timed_out`: the turn waits."""
        handler, limit = self._of("too_slow"), _TIMEOUT + self.within
        took = quickest(lambda: self._seconds(folder, handler), limit)
        assert took <= limit, f"its time was {_TIMEOUT:g} s, and it took {took:.1f} s"

    def test_a_hook_that_is_cancelled_is_ended(self, folder: Path) -> None:
        """If this fails: let CancelledError pass, and end the hook in `finally`: a person called the turn off."""
        handler = self._of("too_slow")
        took = quickest(lambda: finish(self._cancelled(folder, handler)), self.within)
        assert took <= self.within, f"it ended {took:.1f} s after it was cancelled"

    def test_a_hook_that_can_not_work_is_a_failure_and_no_exception(self, folder: Path) -> None:
        """If this fails: catch what the hook does wrong, and answer `failed` with what a person needs to mend it."""
        answer = self._run(folder, self._of("broken"))
        assert answer.status == "failed"
        assert (answer.reason + answer.errors).strip(), "a failure that says nothing"

    def _run(self, folder: Path, handler: Mapping[str, Any], timeout: float = 5.0) -> HookAnswer:
        return finish(self._running(folder, handler, timeout))

    def _seconds(self, folder: Path, handler: Mapping[str, Any]) -> float:
        began = time.monotonic()
        assert self._run(folder, handler, timeout=_TIMEOUT).status == "timed_out"
        return time.monotonic() - began

    async def _cancelled(self, folder: Path, handler: Mapping[str, Any]) -> float:
        running = asyncio.create_task(self._running(folder, handler, 60.0))
        # Nobody tells when a hook has begun; where it has not yet, it is cancelled as it begins, and must end too.
        await asyncio.wait([running], timeout=0.1)
        began = time.monotonic()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return time.monotonic() - began

    async def _running(self, folder: Path, handler: Mapping[str, Any], timeout: float) -> HookAnswer:
        payload = {
            "hook_event_name": "PreToolUse",
            "session_id": "test-session",
            "cwd": str(folder),
            "tool_name": "Bash",
        }
        job = HookJob(event="PreToolUse", handler=handler, payload=payload, timeout=timeout)
        answer: HookAnswer = await self.make().run(job, make_scope(folder, services=self.services))
        return answer

    def _of(self, name: str) -> Mapping[str, Any]:
        handler: Mapping[str, Any] | None = getattr(self, name)
        if handler is None:
            pytest.skip(f"the contract gives no handler `{name}`")
        return handler
