from __future__ import annotations

import asyncio

from toolpost import AgentRequest, AgentResult, SessionError
from toolpost.services import Agents, Models
from toolpost.testing import HookRunnerContract
from toolpost_hook_runner_agent import AgentRunner


class Obedient:
    """Does what the prompt says."""

    async def run(self, request: AgentRequest) -> AgentResult:
        if "wait" in request.prompt:
            await asyncio.Event().wait()
        if "fail" in request.prompt:
            raise SessionError("no plugin runs agents")
        said = '{"ok": false, "reason": "not today"}' if "refuse" in request.prompt else '{"ok": true}'
        return AgentResult(agent_id="a1", content=[{"type": "text", "text": said}])


class Small:
    small = "small-1"


class TestAgentRunner(HookRunnerContract):
    plugin = AgentRunner
    services = {Agents: Obedient(), Models: Small()}
    works = {"type": "agent", "prompt": "agree"}
    blocks = {"type": "agent", "prompt": "refuse"}
    too_slow = {"type": "agent", "prompt": "wait"}
    broken = {"type": "agent", "prompt": "fail"}
