"""Hooks and sub-agents: those of an agent, those that hear of one, and those that are one; and tools of MCP servers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hook_stage import Does, HookStage, call, echo

from toolpost import AgentDefinition, AgentRequest, ToolContext, hookimpl
from toolpost.services import Mcp, ServiceOffer
from toolpost.testing import FakeModel, SessionRecord, record
from toolpost_executor_local import LocalExecutor
from toolpost_hook_runner_agent import AgentRunner
from toolpost_hook_runner_callback import CallbackRunner
from toolpost_hook_runner_mcp_tool import McpToolRunner
from toolpost_tool_read import Read

SUB = call("does", "d1")


def delegates(**definition: Any) -> Does:
    """Return a tool that has a sub-agent do something."""
    kind = AgentDefinition(**{"name": "looker", "description": "looks", "prompt": "You look.", **definition})

    async def act(ctx: ToolContext) -> None:
        await ctx.agents.run(AgentRequest(prompt="Look.", definition=kind, tool_use_id=ctx.control.tool_use_id))

    return Does(act)


async def play(stage: HookStage) -> SessionRecord:
    async with stage.session() as session:
        return await record(session, "go")


def read_by(stage: HookStage, request: int) -> str:
    model = stage.model
    assert isinstance(model, FakeModel)
    return json.dumps(model.requests[request].messages, ensure_ascii=False)


# Of a sub-agent's life.


async def test_a_hook_at_its_end_keeps_a_sub_agent_going_once(tmp_path: Path) -> None:
    stage = HookStage(tmp_path, FakeModel(SUB, "Seen.", "Seen twice.", "Done."), [delegates(), LocalExecutor()])
    once = "grep -q '\"stop_hook_active\": true' SubagentStop.jsonl || { echo 'look again' >&2; exit 2; }"
    stage.hook("SubagentStop", f"cd {tmp_path}; {once}", matcher="looker")
    await play(stage)

    assert [given["last_assistant_message"] for given in stage.given("SubagentStop")] == ["Seen.", "Seen twice."]
    assert "look again" in read_by(stage, 2)


async def test_its_calls_carry_its_id_and_those_of_the_session_none(tmp_path: Path) -> None:
    model = FakeModel(call("echo", "e1", text="a"), SUB, call("echo", "e2", text="b"), "Seen.", "Done.")
    stage = HookStage(tmp_path, model, [delegates(), echo, LocalExecutor()])
    stage.hook("PreToolUse", matcher="echo")
    stage.hook("SubagentStart")
    await play(stage)

    (start,) = stage.given("SubagentStart")
    own, subs = stage.given("PreToolUse")
    assert (subs["agent_id"], subs["agent_type"]) == (start["agent_id"], "looker")
    assert "agent_id" not in own
    assert subs["session_id"] == own["session_id"]
    assert subs["transcript_path"] == own["transcript_path"]


async def test_a_call_of_a_sub_agent_can_not_wait_and_is_refused(tmp_path: Path) -> None:
    model = FakeModel(SUB, call("echo", "e2", text="b"), "Refused.", "Done.")
    stage = HookStage(tmp_path, model, [delegates(), echo, LocalExecutor()])
    stage.specific("PreToolUse", matcher="echo", permissionDecision="defer")
    found = await play(stage)
    assert found.result.terminal_reason == "completed"
    assert "nobody to ask" in read_by(stage, 2)


async def test_a_hook_that_refuses_holds_for_a_sub_agent_too(tmp_path: Path) -> None:
    model = FakeModel(SUB, call("echo", "e2", text="b"), "Refused.", "Done.")
    stage = HookStage(tmp_path, model, [delegates(), echo, LocalExecutor()])
    stage.hook("PreToolUse", "echo 'not that' >&2; exit 2", matcher="echo")
    await play(stage)

    assert "not that" in read_by(stage, 2)


async def test_what_a_hook_in_the_background_says_goes_to_the_agent_whose_call_it_was(tmp_path: Path) -> None:
    class CallsUntilTold(FakeModel):
        """Calls on until it reads what the hook said, and then ends both turns."""

        async def stream(self, request: Any) -> AsyncIterator[Any]:
            number, told = len(self.requests), "late words" in str(request.messages)
            last = request.messages[-1]["content"]
            ended = told or "done" in str(last)
            turn = SUB if not number else "Seen." if ended else call("echo", f"e{number}", text="a")
            self.turns = (*self.turns, turn)
            async for event in super().stream(request):
                yield event

    model = CallsUntilTold()
    stage = HookStage(tmp_path, model, [delegates(max_turns=500), echo, LocalExecutor()])
    late = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "late words"}}
    stage.says("PreToolUse", late, matcher="echo", once=True, **{"async": True})
    stage.hook("PostToolUse", matcher="echo")
    async with asyncio.timeout(60):
        await play(stage)

    own = [request for request in model.requests if "You look." in str(request.system)]
    assert "late words" in str(own[-1].messages)
    assert "late words" not in str(model.requests[-1].messages)


# Those that a sub-agent brings.


async def test_an_agents_hooks_live_as_long_as_it_and_see_its_calls_alone(tmp_path: Path) -> None:
    heard: list[tuple[str, str]] = []

    def hears(event: dict[str, Any]) -> None:
        text = event.get("tool_input", {}).get("text", "")
        heard.append((event["hook_event_name"], text))

    hook = {"type": "function", "function": hears}
    tool = delegates(
        hooks={"PreToolUse": [{"matcher": "echo", "hooks": [hook]}], "Stop": [{"hooks": [hook]}]}, tools=("echo",)
    )
    model = FakeModel(
        call("echo", "e1", text="before"),
        SUB,
        call("echo", "e2", text="during"),
        "Seen.",
        call("echo", "e3", text="after"),
        "Done.",
    )
    await play(HookStage(tmp_path, model, [tool, echo, CallbackRunner(), LocalExecutor()]))

    assert heard == [("PreToolUse", "during"), ("SubagentStop", "")]


async def test_of_two_agents_at_once_each_hears_its_own(tmp_path: Path) -> None:
    heard: list[tuple[str, str]] = []

    class Both(Does):
        concurrency_safe = True

    def kind(name: str) -> AgentDefinition:
        def hears(event: dict[str, Any]) -> None:
            heard.append((name, event["agent_type"]))

        hook = {"type": "function", "function": hears}
        hooks = {"SubagentStart": [{"hooks": [hook]}], "SubagentStop": [{"hooks": [hook]}]}
        return AgentDefinition(name=name, description=name, prompt=name, hooks=hooks)

    async def act(ctx: ToolContext) -> None:
        async with asyncio.TaskGroup() as group:
            for name in ("ann", "bob"):
                group.create_task(ctx.agents.run(AgentRequest(prompt="Look.", definition=kind(name))))

    stage = HookStage(tmp_path, FakeModel(SUB, "A.", "B.", "Done."), [Both(act), CallbackRunner(), LocalExecutor()])
    await play(stage)

    assert sorted(heard) == [("ann", "ann"), ("ann", "ann"), ("bob", "bob"), ("bob", "bob")]


# Those that are one.


def checked(stage: HookStage, event: str, prompt: str, **group: Any) -> None:
    entry = {"type": "agent", "prompt": prompt}
    stage.hooks.setdefault(event, []).append({"hooks": [entry], **group})


def looks(*turns: Any) -> FakeModel:
    return FakeModel(call("echo", "e1", text="hi"), *turns)


async def test_an_agent_looks_at_files_and_its_no_refuses_the_call(tmp_path: Path) -> None:
    model = looks(call("Read", "r1", file_path="rule.txt"), '{"ok": false, "reason": "rule.txt says no"}', "Then not.")
    stage = HookStage(tmp_path, model, [echo, Read(), AgentRunner(), LocalExecutor()])
    (stage.project / "rule.txt").write_text("Never say hi.")
    checked(stage, "PreToolUse", "Is it right?", matcher="echo")
    found = await play(stage)

    assert "Never say hi." in read_by(stage, 2)
    assert "rule.txt says no" in read_by(stage, 3)
    assert found.result.text == "Then not."
    assert {spec.name for spec in model.requests[1].tools} == {"Read"}
    assert not any("Never say hi." in str(message) for message in found.messages)


async def test_its_yes_lets_the_call_through(tmp_path: Path) -> None:
    stage = HookStage(tmp_path, looks('{"ok": true}', "Done."), [echo, AgentRunner(), LocalExecutor()])
    checked(stage, "PreToolUse", "Is it right?", matcher="echo")
    assert (await play(stage)).results == {"e1": "hi"}


async def test_at_the_end_of_a_turn_its_no_keeps_the_model_going(tmp_path: Path) -> None:
    model = FakeModel("Done.", '{"ok": false, "reason": "no tests"}', "Tests too.", '{"ok": true}')
    stage = HookStage(tmp_path, model, [AgentRunner(), LocalExecutor()])
    checked(stage, "Stop", "Are there tests?")
    found = await play(stage)

    assert found.result.text == "Tests too."
    assert "no tests" in read_by(stage, 2)


async def test_its_own_calls_and_end_are_checked_by_no_other_but_seen_by_programs(tmp_path: Path) -> None:
    model = looks(call("Read", "r1", file_path="rule.txt"), '{"ok": true}', "Done.")
    stage = HookStage(tmp_path, model, [echo, Read(), AgentRunner(), LocalExecutor()])
    (stage.project / "rule.txt").write_text("Fine.")
    checked(stage, "PreToolUse", "Is it right?")
    checked(stage, "SubagentStop", "Is it right?")
    stage.hook("PreToolUse")
    await play(stage)

    given = {payload["tool_name"]: payload.get("agent_type") for payload in stage.given("PreToolUse")}
    assert given == {"echo": None, "Read": "hook-agent"}
    assert len(stage.given("PreToolUse")) == 2


async def test_its_messages_are_nobodys(tmp_path: Path) -> None:
    stage = HookStage(tmp_path, looks('{"ok": true}', "Done."), [echo, AgentRunner(), LocalExecutor()])
    checked(stage, "PreToolUse", "Is it right?", matcher="echo")
    found = await play(stage)
    assert not any('"ok"' in str(event) for event in found.events)


async def test_one_that_takes_too_long_is_ended_and_told(tmp_path: Path) -> None:
    class Waits(FakeModel):
        async def stream(self, request: Any) -> Any:
            if self.requests:
                self.requests.append(request)
                if len(self.requests) == 2:
                    await asyncio.Event().wait()
            async for event in super().stream(request):
                yield event

    model = Waits(call("echo", "e1", text="hi"), "", "", "Done.")
    stage = HookStage(tmp_path, model, [echo, AgentRunner(), LocalExecutor()])
    stage.hooks["PreToolUse"] = [
        {"hooks": [{"type": "agent", "prompt": "Is it right?", "timeout": 0.2, "onFailure": "block"}]}
    ]
    async with asyncio.timeout(20):
        found = await play(stage)
    assert any("timed out" in text for text in found.notices)
    assert "hi" not in found.results.values()


async def test_without_an_executor_the_hook_says_what_to_enable(tmp_path: Path) -> None:
    stage = HookStage(tmp_path, looks("Done."), [echo, AgentRunner()])
    checked(stage, "PreToolUse", "Is it right?", matcher="echo")
    found = await play(stage)
    assert any("No enabled plugin runs agents" in text for text in found.notices)


# Tools of MCP servers.


class Lint:
    """A plugin that offers the service Mcp, with one server that has one tool."""

    def __init__(self, says: str) -> None:
        self.says = says
        self.calls: list[tuple[str, str, Mapping[str, Any]]] = []

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        self.calls.append((server, tool, arguments))
        return {"content": [{"type": "text", "text": self.says}]}

    def servers(self) -> Mapping[str, str]:
        return {"lint": "connected"}

    @hookimpl
    def services(self) -> Sequence[ServiceOffer[Any]]:
        return [ServiceOffer(Mcp, lambda _: self)]


MCP_HOOK = {"type": "mcp_tool", "server": "lint", "tool": "check", "input": {"said": "${tool_input.text}"}}


@pytest.mark.parametrize(
    ("says", "read"),
    [
        ('{"decision": "block", "reason": "lint says no"}', "lint says no"),
        (
            '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "lint is fine"}}',
            "lint is fine",
        ),
    ],
)
async def test_a_tool_of_an_mcp_server_decides(says: str, read: str, tmp_path: Path) -> None:
    lint = Lint(says)
    stage = HookStage(tmp_path, looks("Done."), [echo, lint, McpToolRunner()])
    stage.hooks["PreToolUse"] = [{"matcher": "echo", "hooks": [MCP_HOOK]}]
    await play(stage)

    assert lint.calls == [("lint", "check", {"said": "hi"})]
    assert read in read_by(stage, 1)


async def test_without_a_plugin_for_mcp_the_hook_says_so_and_the_call_goes_on(tmp_path: Path) -> None:
    stage = HookStage(tmp_path, looks("Done."), [echo, McpToolRunner()])
    stage.hooks["PreToolUse"] = [{"matcher": "echo", "hooks": [MCP_HOOK]}]
    found = await play(stage)

    assert found.results == {"e1": "hi"}
    assert any("No plugin offers the service 'Mcp'" in text for text in found.notices)
