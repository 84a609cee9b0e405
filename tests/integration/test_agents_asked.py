"""What the definition of a sub-agent asks for: given, refused, or told of; and what the session reports of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest
from hook_stage import Does, HookStage, call, echo

from toolpost import (
    AgentDefinition,
    AgentExecutor,
    AgentRequest,
    AgentResult,
    Notice,
    RunResult,
    SessionScope,
    ToolContext,
)
from toolpost.testing import FakeModel, SessionRecord, record
from toolpost_executor_local import LocalExecutor

SUB = call("does", "d1")


def delegates(**definition: Any) -> Does:
    """Return a tool that has a sub-agent do something."""
    kind = AgentDefinition(**{"name": "looker", "description": "looks", "prompt": "You look.", **definition})

    async def act(ctx: ToolContext) -> None:
        await ctx.agents.run(AgentRequest(prompt="Look.", definition=kind, tool_use_id=ctx.control.tool_use_id))

    return Does(act)


async def play(folder: Path, *turns: Any, plugins: Any, deny: str = "") -> SessionRecord:
    stage = HookStage(folder, FakeModel(*turns, "Done."), [echo, LocalExecutor(), *plugins])
    if deny:
        stage.hook("PreToolUse", "echo 'not that' >&2; exit 2", matcher=deny)
    async with stage.session() as session:
        return await record(session, "go")


def notices(found: SessionRecord) -> list[str]:
    return [event.text for event in found.events if isinstance(event, Notice)]


@pytest.mark.parametrize(
    ("definition", "told"),
    [
        ({"background": True}, "not in the background"),
        ({"skills": ("tidy", "count")}, "without the skills that its definition names (tidy, count)"),
        ({"mcp_servers": ("maps",)}, "without MCP servers of its own (maps)"),
        ({"permission_mode": "bypassPermissions"}, "asks for the permission mode 'bypassPermissions'"),
    ],
)
async def test_what_it_goes_without_is_told_once(definition: dict[str, Any], told: str, tmp_path: Path) -> None:
    found = await play(tmp_path, SUB, "Seen.", call("does", "d2"), "Seen again.", plugins=[delegates(**definition)])
    assert found.results == {"d1": "done", "d2": "done"}
    assert [told in text for text in notices(found)] == [True]


@pytest.mark.parametrize("mode", ["plan", "dontAsk"])
async def test_one_that_is_to_do_less_does_not_run_where_it_could_do_more(mode: str, tmp_path: Path) -> None:
    found = await play(tmp_path, SUB, plugins=[delegates(permission_mode=mode)])
    assert f"is to run in the permission mode '{mode}'" in found.results["d1"]


async def test_it_runs_where_its_definition_says(tmp_path: Path) -> None:
    class Elsewhere(AgentExecutor):
        isolation: ClassVar[str] = "worktree"

        async def run(self, request: AgentRequest, scope: SessionScope, run_here: Any) -> AgentResult:
            del request, scope, run_here
            ran.append("elsewhere")
            return AgentResult(agent_id="a1", content=[])

    ran: list[str] = []
    await play(tmp_path, SUB, plugins=[delegates(isolation="worktree"), Elsewhere()])
    assert ran == ["elsewhere"]


@pytest.mark.parametrize("hooks", [{"Stop": "x"}, {"PreToolUse": ["x"]}, {"PreToolUse": [{"command": "false"}]}])
async def test_one_whose_hooks_are_none_does_not_run_without_them(hooks: Any, tmp_path: Path) -> None:
    found = await play(tmp_path, SUB, plugins=[delegates(hooks=hooks)])
    assert "hooks" in found.results["d1"]
    assert found.results["d1"] != "done"


async def test_calls_that_were_denied_in_it_are_in_the_sessions_result(tmp_path: Path) -> None:
    turns = (SUB, call("echo", "e1", text="a"), "Refused.", call("echo", "e2", text="b"))
    found = await play(tmp_path, *turns, plugins=[delegates()], deny="echo")
    (result,) = [event for event in found.events if isinstance(event, RunResult)]
    assert [denial["tool_use_id"] for denial in result.permission_denials] == ["e1", "e2"]
