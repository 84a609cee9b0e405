from __future__ import annotations

import asyncio
from typing import Any

from toolpost.services import Models
from toolpost.testing import HookRunnerContract
from toolpost_hook_runner_prompt import PromptRunner


class Judge:
    """Does what the prompt says."""

    small = "small"

    async def ask(self, request: Any) -> str:
        if "wait" in request.last_text:
            await asyncio.Event().wait()
        return '{"ok": false, "reason": "not today"}' if "refuse" in request.last_text else '{"ok": true}'


class TestPromptRunner(HookRunnerContract):
    plugin = PromptRunner
    services = {Models: Judge()}
    works = {"type": "prompt", "prompt": "agree"}
    blocks = {"type": "prompt", "prompt": "refuse"}
    too_slow = {"type": "prompt", "prompt": "wait"}
    broken = {"type": "prompt", "prompt": " "}
