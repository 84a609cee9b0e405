from __future__ import annotations

from typing import Any

import pytest

import toolpost
from toolpost import EventBase, HookAnswer, PostToolUse
from toolpost_lifecycle_settings_hooks.outcomes import outcome_of
from toolpost_lifecycle_settings_hooks.said import read_answer

ANY = EventBase()


def outcome(event: str, value: EventBase = ANY, *, stops: bool = False, **output: Any) -> Any:
    given = output | ({"continue": False} if stops else {})
    return outcome_of(event, read_answer(event, HookAnswer(status="ok", output=given)), value)


def specific(event: str, value: EventBase = ANY, **fields: Any) -> Any:
    return outcome(event, value, hookSpecificOutput={"hookEventName": event, **fields})


def blocked(event: str) -> Any:
    return outcome_of(event, read_answer(event, HookAnswer(status="blocked", reason="why")), ANY)


BLOCKING = (
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "Stop",
    "SubagentStop",
    "TaskCreated",
    "TaskCompleted",
    "TeammateIdle",
    "PreCompact",
    "ConfigChange",
    "PreModelSwitch",
    "BeforeModel",
    "WorktreeCreate",
)


@pytest.mark.parametrize("event", BLOCKING)
def test_exit_code_2_blocks(event: str) -> None:
    assert (blocked(event).block, blocked(event).reason) == (True, "why")


@pytest.mark.parametrize("event", [event for event in BLOCKING if event != "PreModelSwitch"])
def test_decision_block_blocks(event: str) -> None:
    said = outcome(event, decision="block", reason="no")
    assert (said.block, said.reason) == (True, "no")
    assert outcome(event).block is False
    assert outcome(event, decision="block").reason


@pytest.mark.parametrize("event", ["PreToolUse", "PreSkillShellCommand"])
def test_exit_code_2_denies_what_would_run(event: str) -> None:
    assert (blocked(event).decision, blocked(event).reason) == ("deny", "why")


@pytest.mark.parametrize(
    "event", ["SessionStart", "Setup", "SessionEnd", "CwdChanged", "FileChanged", "PostCompact", "SubagentStart"]
)
def test_exit_code_2_is_shown_to_the_person_where_nothing_can_be_blocked(event: str) -> None:
    assert blocked(event).system_message == "why"


@pytest.mark.parametrize(
    "event",
    ["PermissionRequest", "PermissionDenied", "InstructionsLoaded", "StopFailure", "Notification", "WorktreeRemove"],
)
def test_exit_code_2_is_passed_over_where_it_means_nothing(event: str) -> None:
    assert blocked(event) == type(blocked(event))()


@pytest.mark.parametrize("event", ["Elicitation", "ElicitationResult"])
def test_exit_code_2_declines_a_servers_question(event: str) -> None:
    assert blocked(event).action == "decline"


def test_a_permission_question_can_be_answered() -> None:
    said = specific(
        "PermissionRequest",
        decision={"behavior": "allow", "updatedInput": {"a": 1}, "updatedPermissions": [{"type": "setMode"}]},
    )
    assert (said.decision, said.updated_input, said.updated_permissions) == ("allow", {"a": 1}, ({"type": "setMode"},))
    said = specific("PermissionRequest", decision={"behavior": "deny", "message": "no", "interrupt": True})
    assert (said.decision, said.message, said.interrupt) == ("deny", "no", True)


@pytest.mark.parametrize("decision", ["allow", {}, {"behavior": "yes"}, {"behavior": "allow", "updatedInput": 1}])
def test_an_answer_to_a_permission_question_that_does_not_fit_is_an_error(decision: Any) -> None:
    with pytest.raises(ValueError, match=r"hookSpecificOutput\.decision"):
        specific("PermissionRequest", decision=decision)


def test_a_result_can_be_replaced_and_that_of_an_mcp_tool_by_its_own_name_only_there() -> None:
    plain, mcp = PostToolUse(tool_name="X"), PostToolUse(tool_name="mcp__x__y", mcp_server={"name": "x"})
    assert specific("PostToolUse", plain, updatedToolOutput={"a": 1}).updated_output == {"a": 1}
    assert specific("PostToolUse", mcp, updatedMCPToolOutput="new").updated_output == "new"
    assert specific("PostToolUse", plain, updatedMCPToolOutput="new").updated_output is None


def test_context_at_the_end_of_a_turn_keeps_it_going() -> None:
    said = specific("Stop", additionalContext="run the tests")
    assert (said.block, said.reason) == (True, "run the tests")
    ended = outcome("Stop", stops=True, hookSpecificOutput={"additionalContext": "x"})
    assert (ended.block, ended.stop) == (False, True)


def test_continue_false_keeps_a_task_open_and_does_not_take_back_a_new_one() -> None:
    said = outcome("TaskCompleted", stops=True, stopReason="untested")
    assert (said.block, said.reason, said.stop) == (True, "untested", False)
    said = outcome("TaskCreated", stops=True)
    assert (said.block, said.stop) == (False, False)


def test_a_session_can_be_begun_with_a_message_a_title_and_files_to_watch() -> None:
    said = specific("SessionStart", initialUserMessage="hi", sessionTitle="t", watchPaths=["/a"])
    assert (said.initial_user_message, said.session_title, said.watch_paths) == ("hi", "t", ("/a",))


def test_a_prompt_can_be_titled_and_hidden() -> None:
    said = specific("UserPromptSubmit", sessionTitle="t", suppressOriginalPrompt=True)
    assert (said.session_title, said.suppress_original_prompt) == ("t", True)


@pytest.mark.parametrize(("decision", "kept"), [("allow", False), ("deny", True), ("ask", True)])
def test_a_change_of_model_that_would_have_to_be_asked_about_does_not_happen(decision: str, kept: bool) -> None:
    assert specific("PreModelSwitch", permissionDecision=decision).block is kept


def test_a_worktree_is_named_by_json_or_by_the_last_line() -> None:
    assert specific("WorktreeCreate", worktreePath="/w").path == "/w"
    answer = HookAnswer(status="ok", text="making it\n/w2\n\n")
    made: Any = outcome_of("WorktreeCreate", read_answer("WorktreeCreate", answer), ANY)
    assert made.path == "/w2"


def test_the_rest_of_the_table() -> None:
    assert specific("PermissionDenied", retry=True).retry is True
    assert specific("CwdChanged", watchPaths=["/a"]).watch_paths == ("/a",)
    assert specific("Elicitation", action="accept", content={"a": 1}).content == {"a": 1}
    assert specific("MessageDisplay", displayContent="***").display_content == "***"


def test_each_event_gets_an_outcome_of_its_own_type() -> None:
    from toolpost.testing.lifecycle import types_of
    from toolpost_lifecycle_settings_hooks.config import TITLES

    for title, name in TITLES.items():
        _, expected = types_of(getattr(toolpost.on, name))
        assert type(outcome(title)) is expected, title
