"""The contract kit of hook runners."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from toolpost.hook_runners import HookAnswer, HookJob
from toolpost.testing._contract import PluginContract, finish
from toolpost.testing.context import make_scope


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

    def test_it_says_which_type_it_runs(self) -> None:
        """If this fails: set `type` to the word that stands in the hook's entry."""
        assert self.make().type == self.works["type"]

    def test_a_hook_that_works_is_ok(self, folder: Path) -> None:
        """If this fails: status `ok` is for a hook that ran and did not block."""
        assert self._run(folder, self.works).status == "ok"

    def test_a_hook_that_blocks_says_why(self, folder: Path) -> None:
        """If this fails: status `blocked` comes with the reason that the hook gave."""
        answer = self._run(folder, self._of("blocks"))
        assert (answer.status, bool(answer.reason.strip())) == ("blocked", True)

    def test_a_hook_that_takes_too_long_is_ended(self, folder: Path) -> None:
        """If this fails: end the hook and all that it started at job.timeout, and answer `timed_out`."""
        assert self._run(folder, self._of("too_slow"), timeout=0.3).status == "timed_out"

    def test_a_hook_that_can_not_work_is_a_failure_and_no_exception(self, folder: Path) -> None:
        """If this fails: catch what the hook does wrong, and answer `failed` with what a person needs to mend it."""
        answer = self._run(folder, self._of("broken"))
        assert answer.status == "failed"
        assert (answer.reason + answer.errors).strip(), "a failure that says nothing"

    def _run(self, folder: Path, handler: Mapping[str, Any], timeout: float = 5.0) -> HookAnswer:
        payload = {
            "hook_event_name": "PreToolUse",
            "session_id": "test-session",
            "cwd": str(folder),
            "tool_name": "Bash",
        }
        job = HookJob(event="PreToolUse", handler=handler, payload=payload, timeout=timeout)
        answer: HookAnswer = finish(self.make().run(job, make_scope(folder, services=self.services)))
        return answer

    def _of(self, name: str) -> Mapping[str, Any]:
        handler: Mapping[str, Any] | None = getattr(self, name)
        if handler is None:
            pytest.skip(f"the contract gives no handler `{name}`")
        return handler
