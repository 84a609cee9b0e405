"""The runner: has a sub-agent look, and turns its verdict into a hook's answer (compat.md 2.3)."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from toolpost import HookAnswer, HookJob, HookRunner, SessionScope, ToolpostError

if TYPE_CHECKING:
    from toolpost import AgentResult, Models, Services

    from .verdict import Verdict

AGENT_TYPE: Final = "hook-agent"
"""What these agents are called in events."""
MOST_TOKENS: Final = 500
_NO_EFFECT: Final = ("PermissionRequest", "PermissionDenied")
"""Events at which a refusal counts for nothing."""


class AgentRunner(HookRunner):
    """Gives the hook's prompt, with the event's JSON in it, to a sub-agent that looks with tools and answers yes or no.

    `model` is an alias or id for hooks that name none; empty for the provider's small one. `tools` are what it may use.
    """

    type: ClassVar[str] = "agent"

    model: str = ""
    tools: tuple[str, ...] = ("Read", "Glob", "Grep")
    max_turns: int = 50

    async def run(self, job: HookJob, scope: SessionScope) -> HookAnswer:
        """Have it look within the hook's time; what is no clear verdict, asked for twice, is a failure."""
        if job.payload.get("agent_type") == AGENT_TYPE:
            return HookAnswer(status="ok")  # a call of such an agent: checked by another, it would never end
        began = time.monotonic()
        try:
            async with asyncio.timeout(job.timeout):
                answer = await self._checked(job, scope)
        except TimeoutError:
            answer = HookAnswer(status="timed_out", reason=f"the agent had no verdict after {job.timeout:g} s")
        except ToolpostError as error:
            answer = HookAnswer(status="failed", reason=f"the agent could not be run: {error}")
        return replace(answer, duration=time.monotonic() - began)

    async def _checked(self, job: HookJob, scope: SessionScope) -> HookAnswer:
        from toolpost.services import Models

        text = job.handler.get("prompt")
        if not isinstance(text, str) or not text.strip():
            return HookAnswer(status="failed", reason=f"{job.source or 'the hook'} needs a 'prompt' that is a text")
        if scope.services is None:
            return HookAnswer(status="failed", reason="there is no session that could run an agent")
        models = scope.services.get(Models)
        model = str(job.handler.get("model") or self.model or models.small)
        result = await self._looked(job.filled(text), model, scope.services)
        if result.error is not None:
            return HookAnswer(status="failed", reason=f"the agent came to no verdict: {result.error}")
        said = "\n".join(str(block.get("text", "")) for block in result.content)
        verdict = await _read(said, model, models)
        if verdict is None:
            return HookAnswer(status="failed", reason=f"the agent's answer is no verdict: {said[:200]!r}")
        if verdict.ok or job.event in _NO_EFFECT:
            return HookAnswer(status="ok")
        return HookAnswer(status="blocked", reason=verdict.reason)

    async def _looked(self, prompt: str, model: str, services: Services) -> AgentResult:
        from toolpost import AgentDefinition, AgentRequest
        from toolpost.services import Agents

        from . import verdict

        definition = AgentDefinition(
            name=AGENT_TYPE,
            description="Checks an event for a hook.",
            prompt=verdict.INSTRUCTIONS,
            tools=self.tools,
            max_turns=self.max_turns,
        )
        request = AgentRequest(
            prompt=prompt, description="Check a hook's rule", agent_type=AGENT_TYPE, model=model, definition=definition
        )
        return await services.get(Agents).run(request)


async def _read(said: str, model: str, models: Models) -> Verdict | None:
    """Return the verdict; one in other words than were asked for is put into them by the model, once."""
    from toolpost import ModelRequest, SystemBlock

    from . import verdict

    read = verdict.read(said)
    if read is not None or not said.strip():
        return read
    again = ModelRequest(
        model=model,
        system=[SystemBlock(verdict.AGAIN)],
        messages=[{"role": "user", "content": said}],
        max_tokens=MOST_TOKENS,
        purpose="hook",
    )
    return verdict.read(await models.ask(again))
