from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from toolpost import HookAnswer, HookJob, HookRunner
from toolpost.testing import make_scope
from toolpost_hook_runner_callback import CallbackRunner

EVENT = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "git push"}}
BLOCK = {"decision": "block", "reason": "not on Fridays"}


async def run(folder: Path, function: Any, kind: str = "callback", timeout: float = 5.0) -> HookAnswer:
    runner: HookRunner = next(each for each in CallbackRunner()._hook_runners() if each.type == kind)
    job = HookJob(event="PreToolUse", handler={"type": kind, kind: function}, payload=EVENT, timeout=timeout)
    return await runner.run(job, make_scope(folder))


def says_no(event: Mapping[str, Any]) -> Mapping[str, Any]:
    return BLOCK


async def says_no_later(event: Mapping[str, Any]) -> Mapping[str, Any]:
    await asyncio.sleep(0)
    return BLOCK


@pytest.mark.parametrize("kind", ["callback", "function"])
@pytest.mark.parametrize("function", [says_no, says_no_later, lambda event: says_no_later(event)])
async def test_what_the_function_returns_is_the_hooks_output(function: Any, kind: str, tmp_path: Path) -> None:
    answer = await run(tmp_path, function, kind)
    assert (answer.status, answer.output) == ("ok", BLOCK)


async def test_it_gets_the_event_as_its_own(tmp_path: Path) -> None:
    def spoils(event: dict[str, Any]) -> None:
        seen.append(event["tool_input"].pop("command"))

    seen: list[str] = []
    answers = [await run(tmp_path, spoils) for _ in range(2)]
    assert [answer.status for answer in answers] == ["ok", "ok"]
    assert seen == ["git push", "git push"]


def raises(event: Mapping[str, Any]) -> None:
    raise LookupError("no such rule")


def leaves(event: Mapping[str, Any]) -> None:
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (raises, "LookupError: no such rule"),
        (leaves, "SystemExit: 3"),
        (lambda event: "no", "returned 'no'"),
        (lambda: None, "TypeError"),
        (None, "can be called"),
    ],
)
async def test_a_function_that_does_not_work_is_a_failure_that_says_why(
    function: Any, why: str, tmp_path: Path
) -> None:
    answer = await run(tmp_path, function)
    assert (answer.status, why in answer.reason) == ("failed", True), answer.reason


async def test_a_sync_function_that_hangs_is_left_behind(tmp_path: Path) -> None:
    end = threading.Event()
    try:
        answer = await run(tmp_path, lambda event: end.wait(60), timeout=0.05)
    finally:
        end.set()
    assert answer.status == "timed_out"


async def test_an_async_function_that_will_not_end_is_left_behind(tmp_path: Path) -> None:
    end = asyncio.Event()

    async def stubborn(event: Mapping[str, Any]) -> None:
        while not end.is_set():
            try:
                await end.wait()
            except asyncio.CancelledError:
                continue

    answer = await run(tmp_path, stubborn, timeout=0.05)
    end.set()
    assert answer.status == "timed_out"
