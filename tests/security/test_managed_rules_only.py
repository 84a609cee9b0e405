"""Where policy says that only managed rules allow, nobody else's do, however they come; a person's yes counts once."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from mock_messages_api import MockMessagesApi, tool_use, turn

from toolpost import LaunchOptions, Notice, Question, Reply, RuleUpdate, SessionEvent, ToolFinished
from toolpost_core.api import open_session

ONLY = {"allowManagedPermissionRulesOnly": True, "permissions": {"allow": ["Bash(./managed:*)"]}}
FOR_GOOD: tuple[RuleUpdate, ...] = (
    {
        "type": "addRules",
        "behavior": "allow",
        "rules": [{"toolName": "Bash", "ruleContent": "./run:*"}],
        "destination": "session",
    },
)
TO_A_FILE: tuple[RuleUpdate, ...] = ({**FOR_GOOD[0], "destination": "userSettings"},)


class World:
    """A folder with two programs, and managed settings."""

    def __init__(self, folder: Path, managed: dict[str, Any]) -> None:
        self.project, self.home = folder / "project", folder / "home"
        self.project.mkdir()
        self.policy = folder / "managed.json"
        self.policy.write_text(json.dumps(managed))
        for name in ("run", "managed"):
            (self.project / name).write_text("#!/bin/sh\necho ran\n")
            (self.project / name).chmod(0o755)
        self.questions: list[Question] = []
        self.events: list[SessionEvent] = []

    async def bash(
        self, *commands: str, updates: tuple[RuleUpdate, ...] = (), before: tuple[RuleUpdate, ...] = (), **options: Any
    ) -> list[str]:
        """Let the model run commands, say yes to what is asked with these updates, and return what the model read."""

        async def ask(question: Question) -> Reply:
            self.questions.append(question)
            return Reply(allow=True, updates=updates)

        async with MockMessagesApi([*(turn(tool_use("Bash", {"command": c})) for c in commands), "Done."]) as api:
            env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "TOOLPOST_MANAGED_SETTINGS": str(self.policy)}
            env |= {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "test"}
            async with open_session(LaunchOptions(cwd=self.project, **options), ask, env=env) as session:
                if before:
                    session.update_rules(before)
                self.events = [event async for event in session.submit("go")]
        return [event.text.strip() for event in self.events if isinstance(event, ToolFinished)]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path.resolve(), ONLY)


async def test_rules_of_the_command_line_and_the_session_do_not_allow(world: World) -> None:
    read = await world.bash("./run", "./managed", allowed_tools=("Bash(./run:*)",), before=FOR_GOOD)

    assert read == ["ran", "ran"]
    assert [question.request.tool_input["command"] for question in world.questions] == ["./run"]


@pytest.mark.parametrize("updates", [FOR_GOOD, TO_A_FILE])
async def test_a_yes_counts_once_and_always_is_not_offered(world: World, updates: tuple[RuleUpdate, ...]) -> None:
    assert await world.bash("./run", "./run", updates=updates) == ["ran", "ran"]

    assert [question.decision.suggestions for question in world.questions] == [(), ()]
    assert any("only the rules of managed settings allow" in e.text for e in world.events if isinstance(e, Notice))
    assert not (world.home / ".toolpost" / "settings.json").exists()


async def test_a_rule_that_denies_may_be_added(world: World) -> None:
    deny: RuleUpdate = {**FOR_GOOD[0], "behavior": "deny"}

    assert "ran" not in await world.bash("./run", before=(deny,))
    assert world.questions == []


async def test_without_the_lock_a_yes_may_count_for_good(tmp_path: Path) -> None:
    world = World(tmp_path.resolve(), {})

    assert await world.bash("./run", "./run", updates=FOR_GOOD) == ["ran", "ran"]
    (question,) = world.questions
    assert question.decision.suggestions
