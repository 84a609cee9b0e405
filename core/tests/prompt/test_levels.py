from __future__ import annotations

from typing import Any

import pytest

from toolpost import LaunchOptions
from toolpost_core.prompt.base import BARE, BASE
from toolpost_core.prompt.levels import opening

FIELDS = {
    "override": "override_system_prompt",
    "coordinator": "coordinator_system_prompt",
    "agent": "agent_system_prompt",
    "custom": "system_prompt",
}


@pytest.mark.parametrize(
    ("given", "level"),
    [
        (("override", "coordinator", "agent", "custom"), "override"),
        (("override", "custom"), "override"),
        (("coordinator", "agent", "custom"), "coordinator"),
        (("coordinator",), "coordinator"),
        (("agent", "custom"), "agent"),
        (("agent",), "agent"),
        (("custom",), "custom"),
        ((), "default"),
    ],
)
@pytest.mark.parametrize("appended", ["", "Be brief."])
def test_the_highest_level_that_is_given_begins_the_prompt(given: tuple[str, ...], level: str, appended: str) -> None:
    options: dict[str, Any] = {FIELDS[name]: f"I am {name}." for name in given}
    chosen = opening(LaunchOptions(**options, append_system_prompt=appended))

    assert chosen.level == level
    assert chosen.text == (f"I am {level}." if given else BASE.strip())
    assert chosen.alone == (level == "override")
    assert chosen.appended == appended


def test_a_blank_text_is_none() -> None:
    chosen = opening(LaunchOptions(agent_system_prompt=" \n", system_prompt="Mine."))

    assert (chosen.text, chosen.level) == ("Mine.", "custom")


def test_a_text_of_the_settings_is_custom_and_one_that_was_asked_for_goes_before_it() -> None:
    assert opening(LaunchOptions(), "Theirs.")[:2] == ("Theirs.", "custom")
    assert opening(LaunchOptions(system_prompt="Mine."), "Theirs.").text == "Mine."
    assert opening(LaunchOptions(agent_system_prompt="I look."), "Theirs.").text == "I look."


def test_a_bare_session_begins_with_one_line_unless_another_is_given() -> None:
    assert opening(LaunchOptions(bare=True)).text == BARE
    assert opening(LaunchOptions(bare=True, system_prompt="Mine.")).text == "Mine."
