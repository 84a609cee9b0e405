"""Whose text the model reads first: the highest of five levels that has one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from toolpost_core.prompt.base import BARE, BASE

if TYPE_CHECKING:
    from toolpost import LaunchOptions

Level: TypeAlias = Literal["override", "coordinator", "agent", "custom", "default"]
LEVELS: Final[tuple[Level, ...]] = ("override", "coordinator", "agent", "custom", "default")
"""The highest first."""


class Opening(NamedTuple):
    """The text that begins the system prompt. One that is `alone` has no sections of plugins beside it.

    `appended` stands at the end of the prompt, whatever its beginning.
    """

    text: str
    level: Level = "default"
    alone: bool = False
    appended: str = ""


def opening(options: LaunchOptions, configured: str | None = None) -> Opening:
    """Return the text of the highest level that is not blank, and what is appended.

    `configured` is the custom text where the options have none.
    """
    texts: dict[Level, str | None] = {
        "override": options.override_system_prompt,
        "coordinator": options.coordinator_system_prompt,
        "agent": options.agent_system_prompt,
        "custom": options.system_prompt or configured,
        "default": BARE if options.bare else BASE,
    }
    given = {level: (texts[level] or "").strip() for level in LEVELS}
    level = next(level for level in LEVELS if given[level])
    return Opening(given[level], level, level == "override", (options.append_system_prompt or "").strip())
