from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from toolpost import CommandPart, PermissionRequest, Rule
from toolpost.permissions import MODES, Behavior, PermissionMode
from toolpost.testing import PermissionResolverContract, make_context
from toolpost_permission_resolver_modes import Modes


class TestModes(PermissionResolverContract):
    plugin = Modes
    cases = (("Edit", {"file_path": "a"}, None), ("Read", {"file_path": "a"}, None))


async def answer(
    folder: Path, mode: PermissionMode, tool: str, path: str | None = None, **more: Any
) -> Behavior | None:
    scope = make_context(folder, mode=mode).scope
    decision = await Modes().resolve(PermissionRequest(tool_name=tool, tool_input={}, scope=scope, path=path, **more))
    return decision.behavior if decision else None


@pytest.mark.parametrize("mode", MODES)
async def test_every_mode_has_an_answer_for_a_read(mode: PermissionMode, tmp_path: Path) -> None:
    expected = "allow" if mode == "bypassPermissions" else None
    assert await answer(tmp_path, mode, "Read", "a", read_only=True) == expected


async def test_accept_edits_lets_files_inside_be_edited_and_nothing_else(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    outside.mkdir()
    (project / "link").symlink_to(outside)
    assert await answer(project, "acceptEdits", "Edit", "src/a.py") == "allow"
    for path in ("../outside/a", "link/a", "link", "/etc/hosts", "~root/a", "a\0b"):
        assert await answer(project, "acceptEdits", "Edit", path) is None
    assert await answer(project, "acceptEdits", "WebFetch") is None


async def test_plan_asks_before_a_change(tmp_path: Path) -> None:
    assert await answer(tmp_path, "plan", "Edit", "a") == "ask"
    assert await answer(tmp_path, "plan", "mcp__browser__click") == "ask"
    assert await answer(tmp_path, "plan", "ExitPlanMode") is None


@dataclass(frozen=True)
class Matcher:
    """Parts whose text a specifier names."""

    parts: Sequence[CommandPart]
    doubt: str = ""

    def matches(self, part: CommandPart, specifier: str, behavior: Behavior) -> bool:
        return part.text == specifier


async def test_plan_lets_a_command_act_only_where_a_rule_names_it(tmp_path: Path) -> None:
    acts = Matcher((CommandPart("list", read_only=True), CommandPart("build")))
    writes = Matcher((CommandPart("build", writes=(tmp_path / "x",)),))
    whole, named = Rule.parse("Bash", "allow"), Rule.parse("Bash(build)", "allow")
    assert await answer(tmp_path, "plan", "Bash", matcher=acts, rules=(whole,)) == "ask"
    assert await answer(tmp_path, "plan", "Bash", matcher=acts, rules=(named,)) is None
    assert await answer(tmp_path, "plan", "Bash", matcher=writes, rules=(named,)) == "ask"


async def test_dont_ask_leaves_the_answer_to_others(tmp_path: Path) -> None:
    assert await answer(tmp_path, "dontAsk", "Edit", "a") is None


async def test_auto_lets_files_inside_be_edited_and_leaves_the_rest_to_a_classifier(tmp_path: Path) -> None:
    assert await answer(tmp_path, "auto", "Edit", "a") == "allow"
    assert await answer(tmp_path, "auto", "Edit", "/etc/hosts") is None
    assert await answer(tmp_path, "auto", "Bash") is None
