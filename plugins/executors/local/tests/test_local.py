from __future__ import annotations

from pathlib import Path

from toolpost import AgentRequest, AgentResult, SessionScope
from toolpost.testing import make_scope
from toolpost_executor_local import LocalExecutor


async def test_an_agent_runs_in_the_very_scope_of_its_parent(tmp_path: Path) -> None:
    given: list[tuple[AgentRequest, SessionScope]] = []

    async def run_here(request: AgentRequest, scope: SessionScope) -> AgentResult:
        given.append((request, scope))
        return AgentResult(agent_id="a1", content=())

    request, scope = AgentRequest(prompt="Look."), make_scope(tmp_path)
    await LocalExecutor().run(request, scope, run_here)

    assert given == [(request, scope)]
