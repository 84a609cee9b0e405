"""Runs sub-agents where their parent runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar

from toolpost import AgentExecutor, AgentRequest, AgentResult, SessionScope


class LocalExecutor(AgentExecutor):
    """Runs a sub-agent in this process, in the folder that its parent is in."""

    isolation: ClassVar[str] = "none"

    async def run(
        self,
        request: AgentRequest,
        scope: SessionScope,
        run_here: Callable[[AgentRequest, SessionScope], Awaitable[AgentResult]],
    ) -> AgentResult:
        """Run it to its end."""
        return await run_here(request, scope)
