from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolpost import AgentRequest, AgentResult, HookAnswer, HookJob, MissingService, ModelRequest
from toolpost.services import Agents, Models
from toolpost.testing import make_scope
from toolpost_hook_runner_agent import AgentRunner

NO = '{"ok": false, "reason": "tests are missing"}'
PAYLOAD = {"hook_event_name": "Stop", "last_assistant_message": "done"}


class Looker:
    """An agent that says one thing."""

    def __init__(self, said: str, error: str | None = None) -> None:
        self.said, self.error = said, error
        self.requests: list[AgentRequest] = []

    async def run(self, request: AgentRequest) -> AgentResult:
        self.requests.append(request)
        content = [{"type": "text", "text": self.said}] if self.said else []
        return AgentResult(agent_id="a1", content=content, error=self.error)


class SmallModel:
    small = "small-1"

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[ModelRequest] = []

    async def ask(self, request: ModelRequest) -> str:
        self.asked.append(request)
        return self.answer


async def run(
    folder: Path,
    agent: Looker,
    event: str = "Stop",
    *,
    again: str = "",
    payload: Any = PAYLOAD,
    prompt: str = "Are there tests?",
    **entry: Any,
) -> tuple[HookAnswer, SmallModel]:
    model = SmallModel(again)
    handler = {"type": "agent", "prompt": prompt, **entry}
    job = HookJob(event=event, handler=handler, payload=payload, timeout=5.0)
    return await AgentRunner().run(job, make_scope(folder, services={Agents: agent, Models: model})), model


async def test_the_agent_reads_the_rule_with_the_event_and_may_only_look(tmp_path: Path) -> None:
    agent = Looker('{"ok": true}')
    answer, _ = await run(tmp_path, agent, prompt="Check $ARGUMENTS now")

    (request,) = agent.requests
    assert answer.status == "ok"
    assert request.prompt == f"Check {json.dumps(PAYLOAD)} now"
    assert request.definition is not None
    assert request.definition.tools == ("Read", "Glob", "Grep")
    assert request.definition.max_turns == 50


async def test_the_hooks_own_model_is_used_and_else_the_small_one(tmp_path: Path) -> None:
    agent = Looker('{"ok": true}')
    await run(tmp_path, agent, model="big-1")
    await run(tmp_path, agent)
    assert [request.model for request in agent.requests] == ["big-1", "small-1"]


@pytest.mark.parametrize("event", ["Stop", "PreToolUse", "UserPromptSubmit"])
async def test_a_rule_that_is_not_kept_blocks_and_the_turn_goes_on(event: str, tmp_path: Path) -> None:
    answer, model = await run(tmp_path, Looker(NO), event)
    assert (answer.status, answer.reason, answer.output) == ("blocked", "tests are missing", {})
    assert model.asked == []


@pytest.mark.parametrize("event", ["PermissionRequest", "PermissionDenied"])
async def test_a_refusal_counts_for_nothing_where_a_person_decides(event: str, tmp_path: Path) -> None:
    answer, _ = await run(tmp_path, Looker(NO), event)
    assert (answer.status, answer.output) == ("ok", {})


async def test_a_verdict_in_other_words_is_asked_for_once_more(tmp_path: Path) -> None:
    answer, model = await run(tmp_path, Looker("There are no tests at all."), again=NO)
    assert (answer.status, answer.reason) == ("blocked", "tests are missing")
    assert model.asked[0].last_text == "There are no tests at all."


async def test_what_then_is_none_is_a_failure(tmp_path: Path) -> None:
    answer, model = await run(tmp_path, Looker("Hard to say."), again='{"ok": null}')
    assert (answer.status, len(model.asked)) == ("failed", 1)
    assert "Hard to say." in answer.reason


async def test_an_agent_that_ended_in_an_error_is_a_failure_that_says_why(tmp_path: Path) -> None:
    answer, _ = await run(tmp_path, Looker('{"ok": true}', error="The limit of 50 turns is reached"))
    assert (answer.status, "50 turns" in answer.reason) == ("failed", True)


async def test_a_call_of_such_an_agent_is_not_checked_by_another(tmp_path: Path) -> None:
    agent = Looker(NO)
    answer, _ = await run(tmp_path, agent, "PreToolUse", payload={**PAYLOAD, "agent_type": "hook-agent"})
    assert (answer.status, agent.requests) == ("ok", [])


async def test_without_a_plugin_that_runs_agents_it_fails_and_says_so(tmp_path: Path) -> None:
    class Nobody:
        async def run(self, request: AgentRequest) -> AgentResult:
            raise MissingService("No enabled plugin runs agents")

    answer, _ = await run(tmp_path, Nobody())  # type: ignore[arg-type]
    assert (answer.status, "No enabled plugin runs agents" in answer.reason) == ("failed", True)
