"""Each lifecycle event in a real session: what makes it happen, and every field that a hook's program gets of it."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from hook_stage import Does, HookStage, Sends, Summary, call, echo, says_yes

from toolpost import (
    AgentRequest,
    Deny,
    LaunchOptions,
    McpInfo,
    PermissionRequest,
    PermissionResolver,
    ProviderError,
    ToolContext,
    ToolFailed,
    ToolResult,
    on,
)
from toolpost.events import agent, messages, tool, turn
from toolpost.services import TaskEnd, Tasks, TaskWork
from toolpost.testing import FakeModel, record
from toolpost_context_instructions import Instructions
from toolpost_core.api import open_session
from toolpost_executor_local import LocalExecutor
from toolpost_service_background import BackgroundService
from toolpost_tool_edit import Edit
from toolpost_tool_read import Read

if TYPE_CHECKING:
    from toolpost_core.session.session import Session

ANY_TEXT = "<some text>"
ANY_NUMBER = "<a number>"
BEFORE_ANY_PROMPT = {"SessionStart", "Setup", "InstructionsLoaded"}
"""Events that tell how a session begins, before its first prompt is there."""
BEFORE_THE_PROMPT = {"PreModelSwitch", "PostModelSwitch", "ConfigChange"}
"""Events that may come between two prompts, so that they have the id of the last one, or none."""


async def prompts(session: Session) -> None:
    await record(session, "go")


@dataclass
class Row:
    """An event: what is in the session, what makes it happen, and the fields that its JSON has beside the common ones."""

    title: str
    fields: Mapping[str, Any]
    turns: Sequence[Any] = ("Done.",)
    plugins: Sequence[Callable[[], object]] = ()
    drive: Callable[[Session], Awaitable[None]] = prompts
    matcher: str | None = None
    stage: Mapping[str, Any] = field(default_factory=dict)
    times: int = 1


class Denies(PermissionResolver):
    async def resolve(self, request: PermissionRequest) -> Deny:
        return Deny("house rule")


async def fails(ctx: ToolContext) -> None:
    raise ToolFailed("the disk is full")


async def moves(ctx: ToolContext) -> ToolResult:
    (ctx.cwd / "sub").mkdir()
    return ToolResult("moved", context_modifier=lambda c: replace(c, cwd=c.cwd / "sub"))


async def delegates(ctx: ToolContext) -> None:
    await ctx.agents.run(AgentRequest(prompt="Look.", agent_type="explore"))


async def writes_settings(session: Session) -> None:
    await record(session, "go")
    file = session.cwd / ".toolpost" / "settings.json"
    file.parent.mkdir()
    file.write_text(json.dumps({"model": "other"}))
    await record(session, "again")


async def adds_folder(session: Session) -> None:
    session.update_rules(
        [{"type": "addDirectories", "directories": [str(session.cwd.parent)], "destination": "session"}]
    )
    await record(session, "go")


async def writes_instructions(session: Session) -> None:
    await record(session, "go")


async def changes_file(session: Session) -> None:
    await record(session, "go")
    (session.cwd / "watched.txt").write_text("new")
    await record(session, "again")


async def talks(session: Session) -> None:
    await record(session, "Tell me of the sea, at length and in every detail.", "again")


async def switches(session: Session) -> None:
    await record(session, "go")
    await session.set_model("other")
    await record(session, "again")


def sent(title: str, event: Any, value: Any, fields: Mapping[str, Any], **more: Any) -> Row:
    """An event of a subsystem that does not exist yet: a plugin sends it, as that will."""
    return Row(title, fields, (call("does"), "Done."), [lambda: Sends(event, value)], **more)


TASK = agent.TaskEvent(task_id="7", task_subject="Tidy up", task_description="All of it", teammate_name="ann")
TASK_FIELDS = {"task_id": "7", "task_subject": "Tidy up", "task_description": "All of it", "teammate_name": "ann"}
ECHO = {"tool_name": "echo", "tool_input": {"text": "hi"}}
ONE_CALL = (call("echo", text="hi"), "Done.")
SUGGESTED = {"type": "addRules", "rules": [{"toolName": "echo"}], "behavior": "allow", "destination": "localSettings"}
SWITCH = {
    "from_model": "fake-model",
    "to_model": "other",
    "requested_model": "other",
    "source": "command",
    "context_tokens": ANY_NUMBER,
    "prompt_cache_warm": True,
    "cache_ttl": "5m",
    "estimated_cache_write_usd": 0.0,
    "pricing": "default",
}

ROWS = [
    Row("PreToolUse", {**ECHO, "tool_use_id": "t1"}, ONE_CALL, [lambda: echo], matcher="echo|other"),
    Row(
        "PermissionRequest",
        {**ECHO, "permission_suggestions": [SUGGESTED]},
        ONE_CALL,
        [lambda: echo],
        stage={"allow": False, "ask": says_yes},
    ),
    Row(
        "PermissionDenied",
        {**ECHO, "tool_use_id": "t1", "reason": "house rule"},
        ONE_CALL,
        [lambda: echo, Denies],
        stage={"allow": False},
    ),
    Row(
        "PostToolUse",
        {**ECHO, "tool_use_id": "t1", "tool_response": "hi", "duration_ms": ANY_NUMBER},
        ONE_CALL,
        [lambda: echo],
        matcher="ec.o",
    ),
    Row(
        "PostToolUseFailure",
        {
            "tool_name": "does",
            "tool_input": {},
            "tool_use_id": "t1",
            "error": "the disk is full",
            "is_interrupt": False,
            "duration_ms": ANY_NUMBER,
        },
        (call("does"), "Done."),
        [lambda: Does(fails)],
    ),
    Row(
        "PostToolBatch",
        {
            "tool_calls": [
                {**ECHO, "tool_use_id": "t1", "tool_response": "hi"},
                {"tool_name": "echo", "tool_input": {"text": "ho"}, "tool_use_id": "t2", "tool_response": "ho"},
            ]
        },
        ([call("echo", text="hi"), call("echo", "t2", text="ho")], "Done."),
        [lambda: echo],
    ),
    Row("UserPromptSubmit", {"prompt": "go", "source": "user"}),
    sent(
        "UserPromptExpansion",
        on.user_prompt_expansion,
        turn.UserPromptExpansion(
            prompt="Review it", command_name="review", command_args="it", command_source="project"
        ),
        {
            "prompt": "Review it",
            "expansion_type": "slash_command",
            "command_name": "review",
            "command_args": "it",
            "command_source": "project",
        },
        matcher="review",
    ),
    sent(
        "PreSkillShellCommand",
        on.pre_skill_shell_command,
        tool.PreSkillShellCommand(
            tool_name="Bash", tool_input={"command": "git log"}, tool_use_id="s1", command_name="notes"
        ),
        {
            "tool_name": "Bash",
            "tool_input": {"command": "git log"},
            "tool_use_id": "s1",
            "command_name": "notes",
            "invoked_by": "user",
        },
        matcher="Bash",
    ),
    Row("SessionStart", {"source": "startup", "model": "fake-model"}, matcher="startup"),
    Row("Setup", {"trigger": "init"}, matcher="init", stage={"options": {"extra": {"setup": "init"}}}),
    Row("SessionEnd", {"reason": "other"}, matcher="other"),
    Row(
        "InstructionsLoaded",
        {"file_path": ANY_TEXT, "memory_type": "Project", "load_reason": "session_start"},
        plugins=[Instructions],
        matcher="session_start",
    ),
    Row(
        "Stop",
        {"stop_hook_active": False, "last_assistant_message": "Done.", "background_tasks": [], "session_crons": []},
    ),
    Row(
        "StopFailure",
        {"error": "rate_limit", "error_details": "slow down"},
        ([ProviderError("slow down", kind="rate_limit")],),
        matcher="rate_limit",
    ),
    Row(
        "SubagentStart",
        {"agent_id": ANY_TEXT, "agent_type": "explore"},
        turns=(call("does"), "Found.", "Done."),
        plugins=(lambda: Does(delegates), LocalExecutor),
        matcher="explore",
    ),
    Row(
        "SubagentStop",
        {
            "agent_id": ANY_TEXT,
            "agent_type": "explore",
            "stop_hook_active": False,
            "agent_transcript_path": ANY_TEXT,
            "last_assistant_message": "Found.",
            "background_tasks": [],
            "session_crons": [],
        },
        turns=(call("does"), "Found.", "Done."),
        plugins=(lambda: Does(delegates), LocalExecutor),
        matcher="explore",
    ),
    Row(
        "Notification",
        {
            "message": "Toolpost needs your permission to use echo",
            "title": "Toolpost",
            "notification_type": "permission_prompt",
        },
        ONE_CALL,
        [lambda: echo],
        matcher="permission_prompt",
        stage={"allow": False, "ask": says_yes},
    ),
    Row("PreCompact", {"trigger": "auto", "custom_instructions": ""}, plugins=[Summary], drive=talks, matcher="auto"),
    Row(
        "PostCompact",
        {"trigger": "auto", "compact_summary": "In short: go."},
        plugins=[Summary],
        drive=talks,
        matcher="auto",
    ),
    Row("PreModelSwitch", SWITCH, ("Done.", "Done."), drive=switches),
    Row("PostModelSwitch", SWITCH, ("Done.", "Done."), drive=switches),
    sent("TaskCreated", on.task_created, TASK, TASK_FIELDS),
    sent("TaskCompleted", on.task_completed, TASK, TASK_FIELDS),
    sent(
        "TeammateIdle",
        on.teammate_idle,
        agent.TeammateIdle(teammate_name="ann", team_name="docs"),
        {"teammate_name": "ann", "team_name": "docs"},
    ),
    Row(
        "ConfigChange",
        {"source": "project_settings", "file_path": ANY_TEXT},
        ("Done.", "Done."),
        drive=writes_settings,
        matcher="project_settings",
    ),
    Row("CwdChanged", {"old_cwd": ANY_TEXT, "new_cwd": ANY_TEXT}, (call("does"), "Done."), [lambda: Does(moves)]),
    Row(
        "DirectoryAdded",
        {"directory": ANY_TEXT, "source": "slash_command"},
        drive=adds_folder,
        matcher="slash_command",
    ),
    Row(
        "FileChanged",
        {"file_path": ANY_TEXT, "event": "add"},
        ("Done.", "Done."),
        drive=changes_file,
        matcher=".env|watched.txt",
    ),
    sent("WorktreeCreate", on.worktree_create, agent.WorktreeCreate(name="fix"), {"name": "fix"}),
    sent(
        "WorktreeRemove",
        on.worktree_remove,
        agent.WorktreeRemove(worktree_path=Path("/w/fix")),
        {"worktree_path": "/w/fix"},
    ),
    sent(
        "Elicitation",
        on.elicitation,
        messages.Elicitation(mcp_server_name="shop", message="Which size?", requested_schema={"type": "object"}),
        {
            "mcp_server_name": "shop",
            "message": "Which size?",
            "mode": "form",
            "requested_schema": {"type": "object"},
        },
        matcher="shop",
    ),
    sent(
        "ElicitationResult",
        on.elicitation_result,
        messages.ElicitationResult(mcp_server_name="shop", action="accept", content={"size": 4}, elicitation_id="e1"),
        {
            "mcp_server_name": "shop",
            "action": "accept",
            "content": {"size": 4},
            "mode": "form",
            "elicitation_id": "e1",
        },
        matcher="shop",
    ),
    Row(
        "MessageDisplay",
        {"turn_id": ANY_TEXT, "message_id": ANY_TEXT, "index": 0, "final": True, "delta": "Done."},
    ),
    Row("BeforeModel", {"model": "fake-model", "message_count": 1, "tool_count": ANY_NUMBER}),
    Row(
        "AfterModel",
        {
            "model": "fake-model",
            "message_count": 1,
            "tool_count": ANY_NUMBER,
            "message": {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
            "usage": {
                "input_tokens": ANY_NUMBER,
                "output_tokens": ANY_NUMBER,
                "cache_creation_input_tokens": ANY_NUMBER,
                "cache_read_input_tokens": ANY_NUMBER,
                "cache_creation_1h_input_tokens": ANY_NUMBER,
                "web_search_requests": ANY_NUMBER,
            },
            "duration_ms": ANY_NUMBER,
        },
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=[row.title for row in ROWS])
async def test_a_hook_gets_every_field_of_its_event_once(row: Row, tmp_path: Path) -> None:
    stage = HookStage(tmp_path, FakeModel(*row.turns), [make() for make in row.plugins], **row.stage)
    (stage.project / "AGENTS.md").write_text("Be brief.")
    stage.hook(row.title, "echo /tmp" if row.title == "WorktreeCreate" else "", matcher=row.matcher)
    async with stage.session() as session:
        async with asyncio.timeout(30):
            await row.drive(session)
        common = common_of(session)
        sent_last = session.prompt_id

    given = stage.given(row.title)
    assert len(given) == row.times
    for payload in given:
        prompt_id = payload.pop("prompt_id", None)
        if row.title in BEFORE_ANY_PROMPT:
            assert prompt_id is None
        elif row.title not in BEFORE_THE_PROMPT:
            assert prompt_id == sent_last
        if prompt_id is not None:
            UUID(prompt_id)
        expected = {**common, "hook_event_name": row.title, **row.fields}
        if row.title == "CwdChanged":
            expected["cwd"] = payload["new_cwd"]
        assert payload.keys() == expected.keys()
        assert {name: seen(value, expected[name]) for name, value in payload.items()} == expected


def common_of(session: Session) -> dict[str, Any]:
    return {
        "session_id": session.id,
        "transcript_path": str(session.transcript_path),
        "cwd": str(session.cwd),
        "permission_mode": "default",
    }


def seen(value: Any, expected: Any) -> Any:
    """Return the value, or the stand-in for any of its kind where one is expected."""
    if isinstance(value, dict) and isinstance(expected, dict):
        return {name: seen(inner, expected.get(name)) for name, inner in value.items()}
    if expected == ANY_TEXT and isinstance(value, str) and value:
        return ANY_TEXT
    if expected == ANY_NUMBER and isinstance(value, int | float) and not isinstance(value, bool):
        return ANY_NUMBER
    return value


def test_the_table_has_every_event() -> None:
    titles = {getattr(on, name).title for name in on.__all__}
    assert {row.title for row in ROWS} == titles
    assert len(titles) == 36


async def test_the_end_of_a_turn_tells_of_what_goes_on_in_the_background(tmp_path: Path) -> None:
    go = asyncio.Event()

    async def runs() -> TaskEnd:
        await go.wait()
        return TaskEnd("completed", "done")

    async def begins(ctx: ToolContext) -> None:
        work = TaskWork(kind="local_bash", description="the build", run=runs, output=str, command="make")
        await ctx.service(Tasks).begin(work)

    stage = HookStage(tmp_path, FakeModel(call("does"), "Done."), [Does(begins), BackgroundService()])
    stage.hook("Stop")
    async with stage.session() as session:
        await record(session, "go")
        go.set()
    (given,) = stage.given("Stop")
    (task,) = given["background_tasks"]
    assert task.pop("id")
    assert task == {"type": "shell", "status": "running", "description": "the build", "command": "make"}


async def test_what_hooks_are_told_of_calls_has_whole_paths_and_what_ran(tmp_path: Path) -> None:
    model = FakeModel(
        [call("Read", "r1", file_path="a.txt"), call("Read", "r2", file_path="b.txt")],
        call("Edit", "e1", file_path="a.txt", old_string="x", new_string="x"),
        "Done.",
    )
    stage = HookStage(tmp_path, model, [Read(), Edit()])
    for name in ("a.txt", "c.txt"):
        (stage.project / name).write_text("x")
    rewritten = {"hookSpecificOutput": {"updatedInput": {"file_path": str(stage.project / "c.txt")}}}
    stage.hook("PreToolUse", f"printf '%s' {shlex.quote(json.dumps(rewritten))}", **{"if": "Read(b.txt)"})
    stage.hook("PostToolBatch")
    stage.hook("PostToolUseFailure")
    async with stage.session() as session:
        await record(session, "go")
    first, second = stage.given("PostToolBatch")
    names = [Path(each["tool_input"]["file_path"]) for each in (*first["tool_calls"], *second["tool_calls"])]
    assert names == [stage.project / name for name in ("a.txt", "c.txt", "a.txt")]
    (failed,) = stage.given("PostToolUseFailure")
    assert (failed["tool_use_id"], failed["tool_input"]["file_path"]) == ("e1", str(stage.project / "a.txt"))


@pytest.mark.parametrize("left", [True, False])
async def test_a_session_that_its_person_leaves_says_so(*, left: bool, tmp_path: Path) -> None:
    settings = tmp_path / "state" / "settings.json"
    settings.parent.mkdir()
    log = tmp_path / "reason"
    hook = {"type": "command", "command": f"touch {log}"}
    settings.write_text(json.dumps({"hooks": {"SessionEnd": [{"matcher": "prompt_input_exit", "hooks": [hook]}]}}))
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TOOLPOST_CONFIG_DIR": str(settings.parent)}
    with suppress(KeyboardInterrupt):
        async with open_session(LaunchOptions(cwd=tmp_path), says_yes, env=env, need_model=False):
            if not left:
                raise KeyboardInterrupt
    assert log.exists() is left


async def test_of_a_servers_tool_hooks_are_told_which_server_and_may_replace_what_it_said(tmp_path: Path) -> None:
    class Remembers(Does):
        name = "mcp__memory__save"
        mcp_info = McpInfo("memory", "save", "project")

    async def acts(ctx: ToolContext) -> ToolResult:
        if len(stage.given("PreToolUse")) == 2:
            raise ToolFailed("full")
        return ToolResult("the password is 123")

    model = FakeModel(call("mcp__memory__save"), call("mcp__memory__save", "t2"), "Done.")
    stage = HookStage(tmp_path, model, [Remembers(acts)], ask=says_yes, allow=False)
    for event in ("PreToolUse", "PermissionRequest", "PostToolUseFailure"):
        stage.hook(event, matcher="mcp__memory__.*")
    stage.specific("PostToolUse", updatedMCPToolOutput="[redacted]")
    async with stage.session() as session:
        found = await record(session, "go")
    told = [stage.given(e) for e in ("PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure")]
    assert [len(each) for each in told] == [2, 2, 1, 1]
    assert all(each["mcp_server"] == {"name": "memory", "source": "project"} for event in told for each in event)
    assert found.results["t1"] == "[redacted]"


async def test_a_session_that_begins_anew_says_so(tmp_path: Path) -> None:
    stage = HookStage(tmp_path, FakeModel("One.", "Two."))
    stage.hook("SessionStart")
    stage.hook("SessionEnd")
    async with stage.session() as session:
        await record(session, "go")
        await session.clear()
        await record(session, "go")
    assert [given["source"] for given in stage.given("SessionStart")] == ["startup", "clear"]
    assert [given["reason"] for given in stage.given("SessionEnd")] == ["clear", "other"]


async def test_a_session_that_goes_on_from_a_summary_says_so(tmp_path: Path) -> None:
    stage = HookStage(tmp_path, FakeModel("Done."), [Summary()])
    stage.hook("SessionStart", matcher="compact")
    async with stage.session() as session:
        await talks(session)
    assert [given["source"] for given in stage.given("SessionStart")] == ["compact"]


async def test_a_strategy_that_only_clears_is_no_compaction(tmp_path: Path) -> None:
    class Clears(Summary):
        summarizes = False

    stage = HookStage(tmp_path, FakeModel("Done."), [Clears()])
    for event in ("PreCompact", "PostCompact", "SessionStart"):
        stage.hook(event)
    async with stage.session() as session:
        await talks(session)
    assert [stage.given(event) for event in ("PreCompact", "PostCompact")] == [[], []]
    assert [given["source"] for given in stage.given("SessionStart")] == ["startup"]


async def test_a_strategy_that_does_not_apply_asks_nobody(tmp_path: Path) -> None:
    class Waits(Summary):
        def applies(self, context: Any) -> float:
            return 0

    strategy = Waits()
    stage = HookStage(tmp_path, FakeModel("Done."), [strategy])
    stage.hook("PreCompact")
    async with stage.session() as session:
        await talks(session)
    assert (stage.given("PreCompact"), strategy.seen) == ([], [])


async def test_a_file_is_heard_of_while_nothing_is_sent(tmp_path: Path) -> None:
    stage = HookStage(tmp_path, FakeModel("Done."))
    stage.hook("FileChanged", matcher=".env")
    async with stage.session() as session, asyncio.timeout(30):
        await record(session, "go")
        for change in ("add", "change", "unlink"):
            if change == "unlink":
                (stage.project / ".env").unlink()
            else:
                (stage.project / ".env").write_text(change)
            while [given["event"] for given in stage.given("FileChanged")][-1:] != [change]:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    assert [given["event"] for given in stage.given("FileChanged")] == ["add", "change", "unlink"]
    assert {given["file_path"] for given in stage.given("FileChanged")} == {str(stage.project / ".env")}


async def test_a_hook_that_changes_the_file_itself_is_not_called_for_ever(tmp_path: Path) -> None:
    stage = HookStage(tmp_path, FakeModel(*["Done."] * 12))
    stage.hook("FileChanged", f"date +%N >> {tmp_path}/project/notes.txt", matcher="notes.txt")
    async with stage.session() as session, asyncio.timeout(60):
        await record(session, "go")
        (stage.project / "notes.txt").write_text("x")
        for _ in range(8):
            await record(session, "go")
    assert len(stage.given("FileChanged")) == 3


async def test_text_is_put_to_hooks_line_by_line_and_the_last_piece_is_final(tmp_path: Path) -> None:
    stage = HookStage(tmp_path, FakeModel(["One\nt", "wo\nth", "ree"]))
    stage.hook("MessageDisplay")
    async with stage.session() as session:
        await record(session, "go")
    given = [(each["index"], each["delta"], each["final"]) for each in stage.given("MessageDisplay")]
    assert given == [(0, "One\n", False), (1, "two\n", False), (2, "three", True)]


async def test_a_compaction_that_the_person_asks_for_says_so_and_with_what_words(tmp_path: Path) -> None:
    stage = HookStage(tmp_path, FakeModel("Done."), [Summary()])
    for event in ("PreCompact", "PostCompact"):
        stage.hook(event, matcher="manual")
    async with stage.session() as session:
        await record(session, "Tell me of the sea, at length and in every detail.")
        async for _ in session.compact("keep the names"):
            pass
    (before,), (after,) = stage.given("PreCompact"), stage.given("PostCompact")
    assert (before["trigger"], before["custom_instructions"]) == ("manual", "keep the names")
    assert (after["trigger"], after["compact_summary"]) == ("manual", "In short: go.")
