"""Hooks that settings switch off, and settings that switch off nothing although they look like it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from fake_session import fake_session, result_of, run

from toolpost import ToolUse, tool
from toolpost.testing import FakeModel

MANAGED = {"Stop": [{"hooks": [{"type": "command", "command": "policy"}]}]}
MINE = {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}


@pytest.mark.parametrize(
    ("policy", "mine", "run"),
    [
        ({}, {}, ["mine", "policy"]),
        ({}, {"disableAllHooks": True}, ["policy"]),
        ({"allowManagedHooksOnly": True}, {}, ["policy"]),
        ({"disableAllHooks": True}, {}, []),
        ({}, {"allowManagedHooksOnly": True}, ["mine", "policy"]),
    ],
)
def test_hooks_of_policy_are_switched_off_by_policy_only(
    folders: Any, tmp_path: Path, policy: Mapping[str, Any], mine: Mapping[str, Any], run: list[str]
) -> None:
    managed = tmp_path / "managed.json"
    managed.write_text(json.dumps({"hooks": MANAGED, **policy}), encoding="utf-8")
    folders.write("project", {"hooks": MINE, **mine})
    settings = folders.load(env={"TOOLPOST_MANAGED_SETTINGS": str(managed)})

    groups = settings.get("hooks", {}).get("Stop", [])
    assert sorted(hook["command"] for group in groups for hook in group["hooks"]) == run


@pytest.mark.parametrize(
    "content",
    [
        {"permissions": {"denyInsteadOfPrompting": True}},
        {"deniedModels": ["x"]},
    ],
)
def test_a_key_that_is_to_hold_something_back_and_does_not_is_named(folders: Any, content: Mapping[str, Any]) -> None:
    file = folders.write("user", content)
    (problem,) = folders.load().problems

    assert str(file) in problem.text
    assert "not held back" in problem.text
    assert folders.load(sources=()).problems == ()


def test_a_restriction_that_is_off_is_not_named(folders: Any) -> None:
    folders.write("user", {"permissions": {"denyInsteadOfPrompting": False}})
    assert folders.load().problems == ()


@tool(read_only=True)
async def again() -> str:
    """Go on."""
    return "more"


async def test_settings_bound_the_turns_where_no_flag_does(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "settings.json").write_text('{"maxTurns": 2}', encoding="utf-8")
    model = FakeModel(*(ToolUse(f"t{number}", "again", {}) for number in range(5)))
    async with fake_session(tmp_path, model, again) as session:
        assert result_of(await run(session)).terminal_reason == "max_turns"
    assert len(model.requests) == 2
