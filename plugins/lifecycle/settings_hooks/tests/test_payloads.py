from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from toolpost import (
    AfterModel,
    Elicitation,
    EventBase,
    FileChanged,
    InstructionsLoaded,
    ModelRequest,
    ModelSwitch,
    Notification,
    Origin,
    PermissionAsked,
    PostToolUse,
    PreCompact,
    PreToolUse,
    SessionStart,
    StopEvent,
    SubagentStop,
    TaskEvent,
    Usage,
    UserPromptSubmit,
)
from toolpost_lifecycle_settings_hooks.payloads import payload_of

ORIGIN = Origin(session_id="s1", transcript_path=Path("/t.jsonl"), cwd=Path("/work"), permission_mode="plan")
COMMON = {"session_id": "s1", "transcript_path": "/t.jsonl", "cwd": "/work", "permission_mode": "plan"}

CASES: list[tuple[str, EventBase, dict[str, Any]]] = [
    (
        "PreToolUse",
        PreToolUse(tool_name="Read", tool_input={"file_path": "/a"}, tool_use_id="t1", read_only=True),
        {"tool_name": "Read", "tool_input": {"file_path": "/a"}, "tool_use_id": "t1"},
    ),
    (
        "PreToolUse",
        PreToolUse(tool_name="mcp__x__y", mcp_server={"name": "x", "source": "user"}),
        {
            "tool_name": "mcp__x__y",
            "tool_input": {},
            "tool_use_id": "",
            "mcp_server": {"name": "x", "source": "user"},
        },
    ),
    (
        "PostToolUse",
        PostToolUse(tool_name="Read", tool_response={"path": Path("/a"), "lines": (1, 2)}, duration=1.2345),
        {
            "tool_name": "Read",
            "tool_input": {},
            "tool_use_id": "",
            "tool_response": {"path": "/a", "lines": [1, 2]},
            "duration_ms": 1234,
        },
    ),
    (
        "PermissionRequest",
        PermissionAsked(tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t1", reason="r"),
        {"tool_name": "Bash", "tool_input": {"command": "ls"}},
    ),
    ("UserPromptSubmit", UserPromptSubmit(prompt="hi"), {"prompt": "hi", "source": "user"}),
    (
        "PostToolUse",
        PostToolUse(tool_name="X"),
        {"tool_name": "X", "tool_input": {}, "tool_use_id": "", "tool_response": None, "duration_ms": 0},
    ),
    ("SessionStart", SessionStart(source="resume", model="m"), {"source": "resume", "model": "m"}),
    (
        "Stop",
        StopEvent(stop_hook_active=True, last_assistant_message="done"),
        {
            "stop_hook_active": True,
            "last_assistant_message": "done",
            "background_tasks": [],
            "session_crons": [],
        },
    ),
    (
        "SubagentStop",
        SubagentStop(agent_id="a1", agent_type="explore", agent_transcript_path=Path("/s.jsonl")),
        {
            "agent_id": "a1",
            "agent_type": "explore",
            "stop_hook_active": False,
            "agent_transcript_path": "/s.jsonl",
            "background_tasks": [],
            "session_crons": [],
        },
    ),
    ("Notification", Notification(message="look"), {"message": "look"}),
    ("PreCompact", PreCompact(trigger="manual"), {"trigger": "manual", "custom_instructions": ""}),
    ("TaskCreated", TaskEvent(task_id="1", task_subject="s"), {"task_id": "1", "task_subject": "s"}),
    ("FileChanged", FileChanged(file_path=Path("/a")), {"file_path": "/a", "event": "change"}),
    (
        "InstructionsLoaded",
        InstructionsLoaded(file_path=Path("/A.md")),
        {"file_path": "/A.md", "memory_type": "Project", "load_reason": "session_start"},
    ),
    (
        "Elicitation",
        Elicitation(mcp_server_name="x", message="?"),
        {"mcp_server_name": "x", "message": "?", "mode": "form"},
    ),
    (
        "PreModelSwitch",
        ModelSwitch(from_model="a", to_model="b"),
        {
            "from_model": "a",
            "to_model": "b",
            "requested_model": None,
            "source": "command",
            "context_tokens": 0,
            "prompt_cache_warm": False,
            "cache_ttl": "5m",
            "estimated_cache_write_usd": 0.0,
            "pricing": "default",
        },
    ),
]


@pytest.mark.parametrize(("title", "event", "fields"), CASES, ids=[title for title, _, _ in CASES])
def test_the_payload_has_the_names_that_hooks_know(title: str, event: EventBase, fields: dict[str, Any]) -> None:
    assert payload_of(title, replace(event, origin=ORIGIN)) == {**COMMON, "hook_event_name": title, **fields}


def test_in_a_sub_agent_its_id_and_type_are_told() -> None:
    event = UserPromptSubmit(prompt="x", origin=replace(ORIGIN, agent_id="a1", agent_type="explore", prompt_id="p"))
    payload = payload_of("UserPromptSubmit", event)
    assert (payload["agent_id"], payload["agent_type"], payload["prompt_id"]) == ("a1", "explore", "p")


def test_the_effort_is_told_where_one_was_chosen() -> None:
    payload = payload_of("UserPromptSubmit", UserPromptSubmit(prompt="x", origin=replace(ORIGIN, effort="high")))
    assert payload["effort"] == {"level": "high"}


def test_a_request_to_the_model_is_told_by_its_size() -> None:
    request = ModelRequest(model="m", messages=[{"role": "user", "content": "long"}])
    event = AfterModel(request=request, message={"role": "assistant", "content": "x"}, usage=Usage(), origin=ORIGIN)
    payload = payload_of("AfterModel", event)
    assert (payload["model"], payload["message_count"], payload["tool_count"]) == ("m", 1, 0)
    assert payload["message"] == {"role": "assistant", "content": "x"}
    assert "long" not in str(payload)
