"""Commands of every day without any rule: those that are plainly safe run without a question, the others are asked about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.security.fuzz.deciding import Decider
from tests.security.fuzz.world import World, make_world

COMMANDS = json.loads((Path(__file__).parent / "everyday_commands.json").read_text("utf-8"))


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("everyday"))


@pytest.mark.parametrize("command", COMMANDS["allowed"])
async def test_a_plainly_safe_command_is_never_asked_about(command: str, world: World) -> None:
    assert "no rules" in [rule_set.name for rule_set in await Decider(world).allowed(command)]


@pytest.mark.parametrize("command", COMMANDS["asked"])
async def test_a_command_that_is_not_is_asked_about(command: str, world: World) -> None:
    assert "no rules" not in [rule_set.name for rule_set in await Decider(world).allowed(command)]
