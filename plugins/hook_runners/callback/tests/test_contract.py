from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from toolpost.testing import HookRunnerContract, exempt
from toolpost_hook_runner_callback import CallbackRunner


def agrees(event: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"systemMessage": f"{event['tool_name']} it is"}


async def waits(event: Mapping[str, Any]) -> None:
    await asyncio.Event().wait()


class TestCallbackRunner(HookRunnerContract):
    plugin = CallbackRunner
    works = {"type": "callback", "callback": agrees}
    too_slow = {"type": "callback", "callback": waits}
    broken = {"type": "callback", "callback": "no function"}

    @exempt("it brings a second runner beside itself, for hooks of type function")
    def test_it_registers_itself_under_its_kind(self) -> None:
        runner = self.make()
        brought = runner._hook_runners()
        assert brought[0] is runner
        assert [each.type for each in brought] == ["callback", "function"]
