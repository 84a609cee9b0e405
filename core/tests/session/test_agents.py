"""A sub-agent is a session with a parent: what it has of its own, and what it shares."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from fake_session import fake_session, group, listen, of_type, run

from toolpost import (
    AgentDefinition,
    AgentExecutor,
    AgentRequest,
    AgentResult,
    AssistantMessage,
    BlockOutcome,
    MissingService,
    Outcome,
    Reply,
    SessionError,
    SessionScope,
    SubagentStart,
    SubagentStop,
    Tool,
    ToolContext,
    ToolResult,
    ToolUse,
    UserMessage,
    hookimpl,
    on,
    tool,
)
from toolpost.services import Agents, Emitter, Files, Journal, Mcp, Models, ServiceOffer, SessionHooks
from toolpost.testing import FakeModel, PlainFiles


class Here(AgentExecutor):
    isolation: ClassVar[str] = "none"

    async def run(
        self,
        request: AgentRequest,
        scope: SessionScope,
        run_here: Callable[[AgentRequest, SessionScope], Awaitable[AgentResult]],
    ) -> AgentResult:
        return await run_here(request, scope)


HERE = group("executors", Here())


@tool(read_only=True)
async def echo(text: str) -> str:
    """Say it."""
    return text


class Delegate(Tool[dict[str, Any]]):
    """Runs a sub-agent with the fields of its input, and keeps what it came to."""

    name = "delegate"
    input_schema = {"type": "object"}

    def __init__(self, **fixed: Any) -> None:
        self.fixed = fixed
        self.came: list[AgentResult] = []

    async def call(self, input: dict[str, Any], ctx: ToolContext, progress: Any) -> ToolResult:
        request = AgentRequest(**{"prompt": "Look.", "tool_use_id": ctx.control.tool_use_id, **self.fixed, **input})
        self.came.append(await ctx.agents.run(request))
        return ToolResult(self.came[-1].content[0]["text"] if self.came[-1].content else self.came[-1].error)


def agent(**fields: Any) -> AgentDefinition:
    return AgentDefinition(**{"name": "looker", "description": "looks", "prompt": "You look.", **fields})


DELEGATE = ToolUse("t1", "delegate", {})
ECHO = ToolUse("t2", "echo", {"text": "hi"})


async def test_a_sub_agent_has_its_own_conversation_and_its_answer_is_the_result(tmp_path: Path) -> None:
    delegate = Delegate(definition=agent())
    model = FakeModel(DELEGATE, ECHO, "There is hi.", "Done.")
    async with fake_session(tmp_path, model, delegate, echo, HERE) as session:
        events = await run(session, "go")
        told = [event for event in events if isinstance(event, AssistantMessage | UserMessage)]
        own = [message for message in session.messages if "hi" in str(message.get("content"))]

    assert [block["text"] for block in delegate.came[0].content] == ["There is hi."]
    assert delegate.came[0].tool_uses == 1
    assert [event.parent_tool_use_id for event in told] == [None, "t1", "t1", "t1", None, None]
    assert model.requests[1].messages == ({"role": "user", "content": [{"type": "text", "text": "Look."}]},)
    assert model.requests[1].system[0].text.startswith("You look.")
    assert len(own) == 1, "its calls are in the parent's conversation"


async def test_its_transcript_lies_below_the_sessions_and_is_marked(tmp_path: Path) -> None:
    delegate = Delegate(definition=agent(), description="Look round")
    async with fake_session(tmp_path, FakeModel(DELEGATE, "Seen.", "Done."), delegate, HERE) as session:
        await run(session, "go")
        path = session.transcript_path
        assert path is not None
        (file,) = (path.with_suffix("") / "subagents").iterdir()
        records = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        main = path.read_text(encoding="utf-8")

    agent_id = delegate.came[0].agent_id
    assert file.name == f"agent-{agent_id}.jsonl"
    assert records[0]["type"] == "agent_metadata"
    assert (records[0]["agentType"], records[0]["description"], records[0]["parentToolUseId"]) == (
        "looker",
        "Look round",
        "t1",
    )
    messages = [record for record in records if "message" in record]
    assert {(r["isSidechain"], r["agentId"], r["sessionId"]) for r in messages} == {(True, agent_id, path.stem)}
    assert "isSidechain" not in main


async def test_what_it_uses_counts_in_the_sessions_budget(tmp_path: Path) -> None:
    model = FakeModel(DELEGATE, "Seen.", "Done.")
    async with fake_session(tmp_path, model, Delegate(), HERE) as session:
        await run(session, "go")
        assert sum(line.requests for line in session.costs()) == 3


@pytest.mark.parametrize(
    ("definition", "offered"),
    [
        (agent(), {"delegate", "echo"}),
        (agent(tools=("echo", "unknown")), {"echo"}),
        (agent(tools=("e*", "delegate"), disallowed_tools=("delegate",)), {"echo"}),
        (agent(tools=()), set()),
    ],
)
async def test_it_has_the_tools_that_its_definition_names(
    definition: AgentDefinition, offered: set[str], tmp_path: Path
) -> None:
    model = FakeModel(DELEGATE, "Seen.", "Done.")
    async with fake_session(tmp_path, model, Delegate(definition=definition), echo, HERE) as session:
        await run(session, "go")

    assert {spec.name for spec in model.requests[1].tools} == offered


async def test_a_definition_gives_it_no_tool_that_the_session_was_narrowed_away_from(tmp_path: Path) -> None:
    model = FakeModel(DELEGATE, "Seen.", "Done.")
    delegate = Delegate(definition=agent(tools=("echo", "delegate")))
    async with fake_session(tmp_path, model, delegate, echo, HERE, tools=("delegate",)) as session:
        await run(session, "go")

    assert [spec.name for spec in model.requests[1].tools] == ["delegate"]


async def test_its_turns_end_where_its_definition_says(tmp_path: Path) -> None:
    delegate = Delegate(definition=agent(max_turns=1))
    async with fake_session(tmp_path, FakeModel(DELEGATE, ECHO, "Done."), delegate, echo, HERE) as session:
        await run(session, "go")

    assert "limit of 1 turns" in (delegate.came[0].error or "")


async def test_listeners_hear_of_its_begin_and_end_and_whose_its_calls_are(tmp_path: Path) -> None:
    heard: list[tuple[str, str | None, str | None, str]] = []

    def note(name: str) -> Any:
        def hear(event: Any) -> None:
            heard.append((name, event.origin.agent_id, event.origin.agent_type, event.origin.session_id))

        return hear

    listening = [
        listen(getattr(on, name), note(name))
        for name in ("session_start", "session_end", "user_prompt_submit", "stop", "subagent_start", "subagent_stop")
    ]
    delegate = Delegate(definition=agent())
    calls = listen(on.pre_tool_use, note("pre_tool_use"))
    model = FakeModel(DELEGATE, ECHO, "Seen.", "Done.")
    async with fake_session(tmp_path, model, delegate, echo, HERE, calls, *listening) as session:
        await run(session, "go")
        session_id = session.id

    whose = (delegate.came[0].agent_id, "looker", session_id)
    main = (None, None, session_id)
    assert heard == [
        ("session_start", *main),
        ("user_prompt_submit", *main),
        ("pre_tool_use", *main),
        ("subagent_start", *whose),
        ("pre_tool_use", *whose),
        ("subagent_stop", *whose),
        ("stop", *main),
        ("session_end", *main),
    ]


async def test_what_a_listener_says_at_its_begin_goes_before_its_prompt(tmp_path: Path) -> None:
    async def hear(event: SubagentStart) -> Outcome:
        return Outcome(additional_context=f"You are {event.agent_type}.")

    model = FakeModel(DELEGATE, "Seen.", "Done.")
    async with fake_session(tmp_path, model, Delegate(), HERE, listen(on.subagent_start, hear)) as session:
        await run(session, "go")

    assert [block.get("text") for block in model.requests[1].messages[0]["content"] if isinstance(block, dict)] == [
        "You are general.",
        "Look.",
    ]


async def test_a_listener_at_its_end_keeps_it_going_and_sees_that_it_did(tmp_path: Path) -> None:
    stops: list[SubagentStop] = []

    async def hear(event: SubagentStop) -> BlockOutcome | None:
        stops.append(event)
        return None if event.stop_hook_active else BlockOutcome(block=True, reason="Look again.")

    delegate = Delegate()
    model = FakeModel(DELEGATE, "Seen.", "Seen twice.", "Done.")
    async with fake_session(tmp_path, model, delegate, HERE, listen(on.subagent_stop, hear)) as session:
        await run(session, "go")

    assert [(stop.stop_hook_active, stop.last_assistant_message) for stop in stops] == [
        (False, "Seen."),
        (True, "Seen twice."),
    ]
    assert model.requests[2].last_text == "Look again."
    assert delegate.came[0].content[0]["text"] == "Seen twice."
    assert stops[0].agent_transcript_path is not None
    assert stops[0].agent_transcript_path.name == f"agent-{stops[0].agent_id}.jsonl"


async def test_what_a_person_grants_a_sub_agent_for_the_session_is_granted_to_all(tmp_path: Path) -> None:
    asked: list[str] = []

    @tool
    async def write(text: str) -> str:
        """Write it."""
        return text

    async def yes_always(question: Any) -> Reply:
        asked.append(question.request.tool_name)
        rule = {"toolName": question.request.tool_name}
        return Reply(
            allow=True,
            updates=[{"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"}],
        )

    model = FakeModel(DELEGATE, ToolUse("t2", "write", {"text": "a"}), "Seen.", "Done.")
    async with fake_session(tmp_path, model, Delegate(), write, HERE, allow=False, ask=yes_always) as session:
        await run(session, "go")
        assert [str(rule) for rule in session.rules()] == ["delegate", "write"]

    assert asked == ["delegate", "write"]


async def test_a_person_who_says_stop_to_its_call_ends_the_whole_turn(tmp_path: Path) -> None:
    @tool
    async def write(text: str) -> str:
        """Write it."""
        return text

    async def no(question: Any) -> Reply:
        return Reply(allow=question.request.tool_name == "delegate", stop=True)

    model = FakeModel(DELEGATE, ToolUse("t2", "write", {"text": "a"}), "never asked for")
    async with fake_session(tmp_path, model, Delegate(), write, HERE, allow=False, ask=no) as session:
        events = await run(session, "go")

    assert len(model.requests) == 2
    assert of_type(events, UserMessage)[-1].parent_tool_use_id is None


async def test_an_interrupt_of_the_session_ends_it(tmp_path: Path) -> None:
    begun = asyncio.Event()

    @tool(read_only=True)
    async def waits() -> str:
        """Wait."""
        begun.set()
        await asyncio.Event().wait()
        return ""

    model = FakeModel(DELEGATE, ToolUse("t2", "waits", {}), "never asked for")
    async with fake_session(tmp_path, model, Delegate(), waits, HERE) as session:
        task = asyncio.create_task(run(session, "go"))
        await begun.wait()
        session.interrupt()
        async with asyncio.timeout(5):
            await task

    assert len(model.requests) == 2


async def test_cancelling_the_call_ends_it(tmp_path: Path) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    @tool(read_only=True)
    async def waits() -> str:
        """Wait."""
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    async with fake_session(tmp_path, FakeModel(ToolUse("t2", "waits", {})), waits, HERE) as session:
        task = asyncio.create_task(session.services.get(Agents).run(AgentRequest(prompt="Look.")))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.is_set()


async def test_agents_below_one_another_are_three_at_most(tmp_path: Path) -> None:
    deeper = [ToolUse(f"t{depth}", "delegate", {}) for depth in range(4)]
    model = FakeModel(*deeper, "Bottom.", "Up.", "Up.", "Done.")
    async with fake_session(tmp_path, model, Delegate(), HERE) as session:
        await run(session, "go")

    assert "no more than 3" in str(model.requests[4].messages[-1])


@pytest.mark.parametrize(("executors", "says"), [((), "Install a plugin"), ((HERE,), "No enabled plugin runs agents")])
async def test_an_isolation_that_nobody_offers_is_an_error_that_says_what_to_do(
    executors: Sequence[object], says: str, tmp_path: Path
) -> None:
    async with fake_session(tmp_path, FakeModel(), *executors) as session:
        with pytest.raises(SessionError, match=says):
            await session.services.get(Agents).run(AgentRequest(prompt="Look.", isolation="moon"))


async def test_a_strangers_executor_runs_it_in_a_folder_that_it_may_work_in(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()

    class Elsewhere(AgentExecutor):
        isolation: ClassVar[str] = "moon"

        async def run(self, request: AgentRequest, scope: SessionScope, run_here: Any) -> AgentResult:
            result: AgentResult = await run_here(request, replace(scope, cwd=other))
            return result

    seen: list[tuple[Path, bool, str | None, int]] = []

    class Where(Tool[dict[str, Any]]):
        name = "where"
        input_schema = {"type": "object"}

        async def call(self, input: dict[str, Any], ctx: ToolContext, progress: Any) -> ToolResult:
            seen.append((ctx.cwd, other in ctx.scope.directories, ctx.control.agent_type, ctx.control.depth))
            return ToolResult("here")

    model = FakeModel(DELEGATE, ToolUse("t2", "where", {}), "Seen.", ToolUse("t3", "where", {}), "Done.")
    elsewhere = group("executors", Elsewhere())
    async with fake_session(tmp_path, model, Delegate(isolation="moon"), Where(), elsewhere) as session:
        await run(session, "go")

    assert seen == [(other, True, "general", 1), (tmp_path / "project", False, None, 0)]


async def test_plugins_services_are_its_parents_and_cores_are_its_own(tmp_path: Path) -> None:
    got: list[tuple[object, object, object]] = []

    class Asks(Tool[dict[str, Any]]):
        name = "asks"
        input_schema = {"type": "object"}

        async def call(self, input: dict[str, Any], ctx: ToolContext, progress: Any) -> ToolResult:
            got.append((ctx.service(Files), ctx.service(SessionHooks), ctx.service(Emitter)))
            with pytest.raises(MissingService):
                ctx.service(Mcp)
            assert ctx.service(Models) is not None
            assert ctx.service(Journal) is not None
            return ToolResult("asked")

    class Offers:
        @hookimpl
        def services(self) -> Sequence[ServiceOffer[Any]]:
            return [ServiceOffer(Files, lambda _: PlainFiles())]

    model = FakeModel(ToolUse("t0", "asks", {}), DELEGATE, ToolUse("t2", "asks", {}), "Seen.", "Done.")
    async with fake_session(tmp_path, model, Delegate(), Asks(), HERE, group("services", Offers())) as session:
        await run(session, "go")

    (parents, childs) = got
    assert parents[0] is childs[0]
    assert parents[1] is not childs[1]
    assert parents[2] is not childs[2]


async def test_an_error_of_its_model_is_the_results(tmp_path: Path) -> None:
    delegate = Delegate()
    async with fake_session(tmp_path, FakeModel(DELEGATE, ValueError("broken"), "Done."), delegate, HERE) as session:
        await run(session, "go")

    assert "broken" in (delegate.came[0].error or "")
    assert delegate.came[0].content == []


async def test_a_listener_that_is_off_after_its_failures_is_off_for_it_too(tmp_path: Path) -> None:
    calls: list[None] = []

    def fails(event: Any) -> None:
        calls.append(None)
        raise ValueError

    echoes = [ToolUse(f"e{n}", "echo", {"text": "x"}) for n in range(3)]
    model = FakeModel(*echoes, DELEGATE, ECHO, "Seen.", "Done.")
    async with fake_session(tmp_path, model, Delegate(), echo, HERE, listen(on.post_tool_use, fails)) as session:
        await run(session, "go")

    assert len(calls) == 3
