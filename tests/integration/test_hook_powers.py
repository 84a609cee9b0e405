"""What the output of configured hooks does to a real session, power by power (compat.md 2.1 and 2.3)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hook_stage import Does, HookStage, Sends, Summary, call, echo, says_yes

from toolpost import AssistantMessage, Question, Reply, SessionError, SessionEvent, Streaming, TextDelta, on
from toolpost.events import agent, messages, tool, turn
from toolpost.services import SessionHooks
from toolpost.testing import FakeModel, SessionRecord, record

ONE_CALL = (call("echo", text="hi"), "Done.")


def stage_of(folder: Path, *turns: Any, plugins: Sequence[object] = (echo,), **more: Any) -> HookStage:
    return HookStage(folder, FakeModel(*(turns or ONE_CALL)), plugins, **more)


async def play(stage: HookStage, *prompts: str) -> SessionRecord:
    async with stage.session() as session, asyncio.timeout(30):
        return await record(session, *(prompts or ("go",)))


def sent(stage: HookStage, request: int) -> str:
    """Return everything that the model read with a request."""
    return json.dumps(stage.model.requests[request].messages)  # type: ignore[attr-defined]


def requests(stage: HookStage) -> int:
    return len(stage.model.requests)  # type: ignore[attr-defined]


# Calls.


async def test_a_call_is_refused_by_its_hook_and_the_model_reads_why(tmp_path: Path) -> None:
    stage = stage_of(tmp_path)
    stage.specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="not in spring")
    found = await play(stage)
    assert "not in spring" in sent(stage, 1)
    assert found.results.get("t1") != "hi"


@pytest.mark.parametrize("said", ['{"hookSpecificOutput": {"permissionDecision": "allow"}}', ""])
async def test_exit_code_2_refuses_whatever_the_output_says(said: str, tmp_path: Path) -> None:
    stage = stage_of(tmp_path)
    stage.hook("PreToolUse", f"printf '%s' '{said}'; echo 'by its code' >&2; exit 2")
    await play(stage)
    assert "by its code" in sent(stage, 1)


async def test_of_several_answers_the_strictest_counts(tmp_path: Path) -> None:
    stage = stage_of(tmp_path)
    for decision in ("allow", "deny", "ask"):
        stage.specific("PreToolUse", permissionDecision=decision, permissionDecisionReason=f"said {decision}")
    await play(stage)
    assert "said deny" in sent(stage, 1)


async def test_an_allow_saves_the_question_and_no_rule(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, allow=False)
    stage.specific("PreToolUse", permissionDecision="allow")
    assert (await play(stage)).results == {"t1": "hi"}


async def test_an_ask_is_put_to_the_person(tmp_path: Path) -> None:
    asked: list[Question] = []

    async def ask(question: Question) -> Reply:
        asked.append(question)
        return Reply(allow=False, feedback="better not")

    stage = stage_of(tmp_path, ask=ask)
    stage.specific("PreToolUse", permissionDecision="ask", permissionDecisionReason="sure?")
    await play(stage)
    assert [question.decision.reason for question in asked] == ["sure?"]
    assert "better not" in sent(stage, 1)


async def test_a_defer_is_no_decision_where_a_person_is(tmp_path: Path) -> None:
    asked: list[Question] = []

    async def ask(question: Question) -> Reply:
        asked.append(question)
        return Reply(allow=True)

    stage = stage_of(tmp_path, ask=ask)
    stage.specific("PreToolUse", permissionDecision="defer")
    assert (await play(stage)).results["t1"] == "hi"
    assert asked == []


async def test_it_ends_the_run_where_nobody_is_and_the_next_prompt_has_it_asked_again(tmp_path: Path) -> None:
    stage = stage_of(tmp_path)
    once = f"[ -e {tmp_path}/once ] && exit 0; touch {tmp_path}/once; "
    stage.hook("PreToolUse", once + """printf '{"hookSpecificOutput":{"permissionDecision":"defer"}}'""")
    async with stage.session() as session:
        first = await record(session, "go")
        assert (first.result.stop_reason, first.results) == ("tool_deferred", {})
        assert first.result.deferred_tool_use == {"id": "t1", "name": "echo", "input": {"text": "hi"}}
        second = await record(session, "and?")
    assert (second.results, second.result.text, requests(stage)) == ({"t1": "hi"}, "Done.", 2)


async def test_a_new_input_runs_and_one_that_does_not_fit_does_not(tmp_path: Path) -> None:
    stage = stage_of(tmp_path / "a")
    (tmp_path / "a").mkdir()
    stage.specific("PreToolUse", updatedInput={"text": "changed"})
    assert (await play(stage)).results == {"t1": "changed"}

    bad = stage_of(tmp_path / "b")
    (tmp_path / "b").mkdir()
    bad.specific("PreToolUse", updatedInput={"txt": 7})
    await play(bad)
    assert "no longer fits" in sent(bad, 1)


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse"])
async def test_context_goes_to_the_model_with_the_result(event: str, tmp_path: Path) -> None:
    stage = stage_of(tmp_path)
    stage.specific(event, additionalContext="mind the tests")
    found = await play(stage)
    assert "mind the tests" in sent(stage, 1)
    assert found.results["t1"].startswith("hi")


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "PostToolBatch"])
async def test_a_hook_ends_the_turn_before_the_next_request(event: str, tmp_path: Path) -> None:
    stage = stage_of(tmp_path)
    stage.says(event, {"continue": False, "stopReason": "enough for today"})
    found = await play(stage)
    assert (requests(stage), found.result.terminal_reason) == (1, "hook_stopped")
    assert "enough for today" in found.notices


async def test_feedback_on_a_call_that_ran_is_read_by_the_model(tmp_path: Path) -> None:
    stage = stage_of(tmp_path)
    stage.says("PostToolUse", {"decision": "block", "reason": "format it first"})
    await play(stage)
    assert "format it first" in sent(stage, 1)


async def test_an_output_is_replaced(tmp_path: Path) -> None:
    stage = stage_of(tmp_path)
    stage.specific("PostToolUse", updatedToolOutput="[redacted]")
    assert (await play(stage)).results == {"t1": "[redacted]"}


async def test_what_a_hook_says_of_a_failure_is_read_by_the_model(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, call("echo", txt="x"), "Done.")
    stage.specific("PostToolUseFailure", additionalContext="the field is called text")
    await play(stage)
    assert "the field is called text" in sent(stage, 1)


async def test_a_batch_of_calls_ends_the_turn_with_its_reason_or_goes_on_with_context(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    stops = stage_of(tmp_path / "a")
    stops.says("PostToolBatch", {"decision": "block", "reason": "look at this first"})
    found = await play(stops)
    assert (requests(stops), found.result.terminal_reason) == (1, "hook_stopped")
    assert "look at this first" in found.notices

    (tmp_path / "b").mkdir()
    goes_on = stage_of(tmp_path / "b")
    goes_on.specific("PostToolBatch", additionalContext="two of five are done")
    await play(goes_on)
    assert "two of five are done" in sent(goes_on, 1)


# Permissions.


@pytest.mark.parametrize(("behavior", "ran"), [("allow", True), ("deny", False)])
async def test_a_hook_answers_in_the_persons_place(behavior: str, *, ran: bool, tmp_path: Path) -> None:
    stage = stage_of(tmp_path, allow=False)
    stage.specific("PermissionRequest", decision={"behavior": behavior, "message": "says the hook"})
    found = await play(stage)
    assert ("hi" in found.results.values()) is ran
    assert ("says the hook" in sent(stage, 1)) is not ran


async def test_a_hook_grants_for_good(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, allow=False)
    rule = {"type": "addRules", "rules": [{"toolName": "echo"}], "behavior": "allow", "destination": "session"}
    stage.specific("PermissionRequest", decision={"behavior": "allow", "updatedPermissions": [rule]})
    async with stage.session() as session:
        await record(session, "go")
        assert [str(found) for found in session.rules()] == ["echo"]


async def test_a_denied_hook_ends_the_turn_where_it_interrupts(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, allow=False)
    stage.specific("PermissionRequest", decision={"behavior": "deny", "interrupt": True})
    await play(stage)
    assert requests(stage) == 1


async def test_the_model_is_told_that_it_may_try_again(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, allow=False)
    stage.specific("PermissionDenied", retry=True)
    await play(stage)
    assert "You may try again." in sent(stage, 1)


# Prompts and sessions.


@pytest.mark.parametrize("suppressed", [True, False])
async def test_a_prompt_is_blocked_and_erased(*, suppressed: bool, tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "Done.")
    specific = {"hookEventName": "UserPromptSubmit", "suppressOriginalPrompt": suppressed}
    stage.says("UserPromptSubmit", {"decision": "block", "reason": "no secrets", "hookSpecificOutput": specific})
    found = await play(stage, "the key is 123")
    assert (requests(stage), list(found.messages)) == (0, [])
    assert found.result.text.startswith("no secrets")
    assert ("the key is 123" in found.result.text) is not suppressed


async def test_plain_output_goes_with_the_prompt(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "Done.")
    stage.hook("UserPromptSubmit", "echo 'On branch main'")
    stage.specific("UserPromptSubmit", additionalContext="It is Monday")
    await play(stage)
    assert all(text in sent(stage, 0) for text in ("On branch main", "It is Monday", "go"))


@pytest.mark.parametrize("event", ["UserPromptSubmit", "SessionStart"])
async def test_a_hook_names_the_session(event: str, tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "Done.", "Done.")
    stage.specific(event, sessionTitle="Fix the parser")
    stage.hook("UserPromptSubmit")
    async with stage.session() as session:
        await record(session, "one", "two")
        assert session.title == "Fix the parser"
        path = session.transcript_path
    assert [given.get("session_title") for given in stage.given("UserPromptSubmit")][-1] == "Fix the parser"
    assert path is not None
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [each["customTitle"] for each in records if each["type"] == "custom-title"] == ["Fix the parser"]


async def test_a_name_is_one_line_of_letters(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "Done.")
    stage.specific("SessionStart", sessionTitle="\x1b[31mFix\n the parser " + "x" * 100_000)
    async with stage.session() as session:
        await record(session, "go")
        title = session.title or ""
    assert title.startswith("[31mFix the parser xxx")
    assert len(title) == 200


async def test_names_that_no_file_can_have_are_watched_in_vain(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "Done.", "Done.")
    odd = ["a\0b", "", "x" * 10_000, "~nobody-here/x", "/proc/self/mem"]
    stage.specific("SessionStart", watchPaths=odd)
    async with stage.session() as session:
        found = await record(session, "go", "again")
    assert found.result.text == "Done."


async def test_a_session_begins_with_what_its_hooks_say(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "Done.")
    stage.hook("SessionStart", "echo 'plain text'")
    stage.specific("SessionStart", additionalContext="context", initialUserMessage="First of all, be quick.")
    stage.hooks["Setup"] = []
    await play(stage)
    (message,) = stage.model.requests[0].messages  # type: ignore[attr-defined]
    assert [block["text"] for block in message["content"]] == [
        "plain text\ncontext",
        "First of all, be quick.",
        "go",
    ]


async def test_a_session_start_hook_ends_the_turn(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "Done.")
    stage.says("SessionStart", {"continue": False, "stopReason": "no licence"})
    found = await play(stage)
    assert (requests(stage), found.result.text) == (0, "no licence")


async def test_the_context_of_a_setup_goes_before_the_first_prompt(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "Done.", options={"extra": {"setup": "maintenance"}})
    stage.specific("Setup", additionalContext="dependencies are fresh")
    await play(stage)
    assert "dependencies are fresh" in sent(stage, 0)
    assert stage.given("Setup")[0]["trigger"] == "maintenance"


async def test_files_that_a_session_start_hook_names_are_watched(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "Done.", "Done.", "Done.")
    watched, more = tmp_path / "outside.txt", tmp_path / "more.txt"
    stage.specific("SessionStart", watchPaths=[str(watched)])
    stage.specific("FileChanged", watchPaths=[str(more)])
    async with stage.session() as session, asyncio.timeout(30):
        await record(session, "go")
        watched.write_text("1")
        await record(session, "go")
        more.write_text("1")
        await record(session, "go")
    assert [given["file_path"] for given in stage.given("FileChanged")] == [str(watched), str(more)]


@pytest.mark.parametrize("way", ["decision", "exit 2", "context"])
async def test_a_stop_hook_keeps_the_model_going_once(way: str, tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "Done?", "Done.")
    once = "grep -q '\"stop_hook_active\": true' {log} || ".format(log=tmp_path / "Stop.jsonl")
    said = {
        "decision": """printf '{"decision":"block","reason":"run the tests"}'""",
        "exit 2": "{ echo 'run the tests' >&2; exit 2; }",
        "context": """printf '{"hookSpecificOutput":{"additionalContext":"run the tests"}}'""",
    }
    stage.hook("Stop", once + said[way])
    found = await play(stage)
    assert (requests(stage), found.result.text) == (2, "Done.")
    assert "run the tests" in sent(stage, 1)
    assert [given["stop_hook_active"] for given in stage.given("Stop")] == [False, True]


async def test_a_stop_hook_that_always_blocks_is_heard_eight_times(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, *["Done."] * 12)
    stage.hook("Stop", "echo more >&2; exit 2")
    found = await play(stage)
    assert (requests(stage), found.result.terminal_reason) == (9, "completed")


@pytest.mark.parametrize(("cap", "heard"), [("2", 2), ("none", 8)])
async def test_the_environment_says_how_often(cap: str, heard: int, tmp_path: Path) -> None:
    stage = stage_of(tmp_path, *["Done."] * 12, env={"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": cap})
    stage.hook("Stop", "echo more >&2; exit 2")
    found = await play(stage)
    assert requests(stage) == heard + 1
    assert any("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP" in text for text in found.notices) is (cap == "none")


async def test_a_changed_setting_is_not_taken_over_where_a_hook_says_no(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "One.", "Two.")
    stage.says("ConfigChange", {"decision": "block", "reason": "ask the admin"})
    async with stage.session() as session:
        await record(session, "go")
        (stage.project / ".toolpost").mkdir()
        (stage.project / ".toolpost" / "settings.json").write_text("{}")
        found = await record(session, "go")
    assert any("ask the admin" in text for text in found.notices)


async def test_a_model_switch_is_refused(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "Done.")
    stage.specific("PreModelSwitch", permissionDecision="ask", permissionDecisionReason="too dear")
    async with stage.session() as session:
        with pytest.raises(SessionError, match="too dear"):
            await session.set_model("other")
        assert session.model.id == "fake-model"


async def test_what_a_hook_says_of_a_new_model_goes_with_the_next_request(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "Done.")
    stage.specific("PostModelSwitch", additionalContext="you are another one now")
    async with stage.session() as session:
        await session.set_model("other")
        await record(session, "go")
    assert "you are another one now" in sent(stage, 0)


async def test_a_notification_never_holds_the_question_up(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, allow=False, ask=says_yes)
    stage.hook("Notification", f"while ! [ -e {tmp_path}/go ]; do sleep 0.05; done")
    found = await play(stage)
    (tmp_path / "go").touch()
    assert found.results == {"t1": "hi"}


# In the background.


async def test_a_hook_wakes_the_model_that_had_ended(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "Done?", "Done.")
    stage.hook(
        "Stop",
        f"[ -e {tmp_path}/once ] || {{ touch {tmp_path}/once; echo '2 tests fail' >&2; exit 2; }}",
        asyncRewake=True,
    )
    found = await play(stage)
    assert (requests(stage), found.result.text) == (2, "Done.")
    assert "2 tests fail" in sent(stage, 1)


async def test_one_that_never_has_enough_is_heard_eight_times(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, *["Done."] * 12)
    stage.hook("Stop", "echo more >&2; exit 2", asyncRewake=True)
    await play(stage)
    assert requests(stage) == 9


async def test_what_a_hook_in_the_background_says_is_read_with_a_later_prompt(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, *["Done."] * 200)
    asynchronous: dict[str, Any] = {"async": True}
    stage.hook("SessionStart", "echo 'the build is green'", **asynchronous)
    async with stage.session() as session, asyncio.timeout(30):
        await record(session, "go")
        assert "the build is green" not in sent(stage, 0)
        while "the build is green" not in sent(stage, -1):
            await asyncio.sleep(0.05)
            await record(session, "go")


# Compaction and display.

LONG = "Tell me of the sea, at length and in every detail."


async def test_a_compaction_is_blocked_and_told(tmp_path: Path) -> None:
    strategy = Summary()
    stage = stage_of(tmp_path, "Done.", plugins=[strategy])
    stage.says("PreCompact", {"decision": "block", "reason": "not now"})
    found = await play(stage, LONG, "go")
    assert strategy.seen == []
    assert "The conversation was not compacted: not now" in found.notices


async def test_a_hook_adds_instructions_for_the_summary_and_context_after_it(tmp_path: Path) -> None:
    strategy = Summary()
    stage = stage_of(tmp_path, "Done.", plugins=[strategy])
    stage.specific("PreCompact", additionalContext="keep the file names")
    stage.specific("SessionStart", matcher="compact", additionalContext="the rules again")
    await play(stage, LONG, "go")
    assert [context.instructions for context in strategy.seen] == ["keep the file names"]
    assert [text in sent(stage, 1) for text in ("In short: go.", "the rules again")] == [True, True]


async def test_what_is_shown_is_replaced_and_what_is_kept_is_not(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, ["the key ", "is 123"])
    stage.specific("MessageDisplay", displayContent="the key is ***")
    found = await play(stage)
    assert [event.event.text for event in streamed(found.events)] == ["the key is ***"]
    shown = [event.message["content"] for event in found.events if isinstance(event, AssistantMessage)]
    assert shown == [[{"type": "text", "text": "the key is ***"}]]
    assert found.messages[-1]["content"] == [{"type": "text", "text": "the key is 123"}]
    assert found.result.text == "the key is 123"


def streamed(events: Sequence[SessionEvent]) -> list[Any]:
    return [event for event in events if isinstance(event, Streaming) and isinstance(event.event, TextDelta)]


@pytest.mark.parametrize("event", ["BeforeModel"])
async def test_a_request_is_not_sent(event: str, tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "Done.")
    stage.says(event, {"decision": "block", "reason": "the budget is frozen"})
    found = await play(stage)
    assert (requests(stage), found.result.terminal_reason) == (0, "hook_stopped")
    assert any("the budget is frozen" in text for text in found.notices)


# Subsystems that do not exist yet: what the answer comes to for whoever sends the event.

TASK = agent.TaskEvent(task_id="7", task_subject="Tidy up")
SUBAGENT = agent.SubagentStop(agent_id="a1")
EXPANSION = turn.UserPromptExpansion(prompt="Review it", command_name="review")
COMMAND = tool.PreSkillShellCommand(tool_name="Bash", tool_input={"command": "git log"})
ASKS = messages.Elicitation(mcp_server_name="shop", message="Which size?")
ANSWERED = messages.ElicitationResult(mcp_server_name="shop", content={"size": 4})
SAYS_NO = "echo 'not yet' >&2; exit 2"
BLOCKED = {"block": True, "reason": "not yet"}

ANSWERS: list[tuple[Any, Any, str | dict[str, Any], dict[str, Any]]] = [
    (
        on.subagent_start,
        agent.SubagentStart(agent_id="a1"),
        {"additionalContext": "be brief"},
        {"additional_context": "be brief"},
    ),
    (on.subagent_stop, SUBAGENT, SAYS_NO, BLOCKED),
    (on.subagent_stop, SUBAGENT, {"additionalContext": "look again"}, {"block": True, "reason": "look again"}),
    (on.task_created, TASK, SAYS_NO, BLOCKED),
    (on.task_completed, TASK, SAYS_NO, BLOCKED),
    (on.task_completed, TASK, """printf '{"continue":false,"stopReason":"not yet"}'""", {**BLOCKED, "stop": False}),
    (on.teammate_idle, agent.TeammateIdle(teammate_name="ann"), SAYS_NO, BLOCKED),
    (on.user_prompt_expansion, EXPANSION, SAYS_NO, BLOCKED),
    (on.user_prompt_expansion, EXPANSION, "echo 'plain text'", {"block": False, "additional_context": "plain text"}),
    (on.pre_skill_shell_command, COMMAND, {"permissionDecision": "ask"}, {"decision": "ask"}),
    (on.pre_skill_shell_command, COMMAND, SAYS_NO, {"decision": "deny", "reason": "not yet"}),
    (
        on.worktree_create,
        agent.WorktreeCreate(name="fix"),
        "echo making it; echo /w/fix",
        {"path": "/w/fix", "block": False},
    ),
    (on.worktree_create, agent.WorktreeCreate(name="fix"), "exit 1", {"block": True}),
    (on.elicitation, ASKS, {"action": "accept", "content": {"size": 4}}, {"action": "accept", "content": {"size": 4}}),
    (on.elicitation, ASKS, SAYS_NO, {"action": "decline"}),
    (on.elicitation_result, ANSWERED, {"action": "cancel"}, {"action": "cancel"}),
    (on.elicitation_result, ANSWERED, SAYS_NO, {"action": "decline"}),
    (on.cwd_changed, None, {"watchPaths": ["/a"]}, {"watch_paths": ("/a",)}),
]


@pytest.mark.parametrize(("event", "value", "said", "expected"), ANSWERS)
async def test_who_sends_an_event_gets_what_hooks_decide(
    event: Any, value: Any, said: str | dict[str, Any], expected: dict[str, Any], tmp_path: Path
) -> None:
    from toolpost import CwdChanged

    sends = Sends(event, value or CwdChanged(old_cwd=Path("/a"), new_cwd=Path("/b")))
    stage = stage_of(tmp_path, call("does"), "Done.", plugins=[sends])
    if isinstance(said, str):
        stage.hook(event.title, said)
    else:
        stage.specific(event.title, **said)
    await play(stage)
    (answer,) = sends.answers
    assert {name: getattr(answer, name) for name in expected} == expected


# Hooks beside those of the settings.


async def test_a_skills_hook_lives_as_long_as_the_skill(tmp_path: Path) -> None:
    heard: list[str] = []
    ends: list[Any] = []

    def hears(event: dict[str, Any]) -> None:
        heard.append(event["tool_input"]["text"])

    async def toggles(ctx: Any) -> None:
        if ends:
            ends.pop()()
        else:
            hook = {"type": "function", "function": hears}
            ends.append(ctx.service(SessionHooks).add({"PreToolUse": [{"matcher": "echo", "hooks": [hook]}]}))

    from toolpost_hook_runner_callback import CallbackRunner

    calls = [call("echo", text="before"), call("does", "d1"), call("echo", "t2", text="during"), call("does", "d2")]
    model = FakeModel(*calls, call("echo", "t3", text="after"), "Done.")
    stage = HookStage(tmp_path, model, [echo, Does(toggles), CallbackRunner()])
    await play(stage)
    assert heard == ["during"]


async def test_a_programs_callback_decides_with_those_of_the_settings(tmp_path: Path) -> None:
    from toolpost.testing import SessionHarness
    from toolpost_hook_runner_callback import CallbackRunner
    from toolpost_lifecycle_settings_hooks import SettingsHooks

    async def says_no(event: dict[str, Any]) -> dict[str, Any]:
        return {"decision": "block", "reason": f"not {event['tool_input']['text']}"}

    hooks = {"PreToolUse": [{"matcher": "echo", "hooks": [{"type": "callback", "callback": says_no}]}]}
    model = FakeModel(*ONE_CALL)
    harness = SessionHarness(tmp_path, model, [echo, SettingsHooks(), CallbackRunner()], hooks=hooks)
    async with harness.session() as session:
        await record(session, "go")
    assert "not hi" in json.dumps(model.requests[1].messages)

    off = SessionHarness(
        tmp_path,
        FakeModel(*ONE_CALL),
        [echo, SettingsHooks(), CallbackRunner()],
        hooks=hooks,
        settings={"disableAllHooks": True},
    )
    async with off.session() as session:
        assert (await record(session, "go")).results == {"t1": "hi"}
