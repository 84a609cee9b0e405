"""How much the model spends on an answer: what a person asked for, else the flags, the environment and the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

import toolpost

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolpost import Effort
    from toolpost_core.session.parts import Parts

    Thinking: TypeAlias = int | Literal["adaptive", "disabled"] | None

EFFORT: Final = "TOOLPOST_EFFORT_LEVEL"
BUDGET: Final = "MAX_THINKING_TOKENS"
OFF: Final = "TOOLPOST_DISABLE_THINKING"


class Asked(NamedTuple):
    """What goes into each request."""

    effort: Effort | None
    thinking: Thinking


class Reasoning:
    """What a session asks for; `effort` and `thinking` are what a person or program chose in it."""

    def __init__(self) -> None:
        self.effort: Effort | None = None
        self.thinking: Thinking = None

    def asked(self, parts: Parts) -> Asked:
        """Return what goes into the next request."""
        thinking = self.thinking if self.thinking is not None else _thinking(parts)
        return Asked(self.level(parts), thinking)

    def level(self, parts: Parts) -> Effort | None:
        """Return the effort that the next request asks for."""
        return self.effort or _effort(parts)


def odd_variables(env: Mapping[str, str]) -> list[str]:
    """Say which variables hold what can't be used; they count as not set."""
    said = []
    effort, budget = env.get(EFFORT, "").strip(), env.get(BUDGET, "").strip()
    if effort and _level(effort) is None:
        said.append(
            f"{EFFORT} is {effort!r}, which is no level of effort: {', '.join(toolpost.EFFORTS)}. It is left out."
        )
    if budget and not budget.isdecimal():
        said.append(f"{BUDGET} is {budget!r}, which is no number of tokens. It is left out; 0 turns thinking off.")
    return said


def _effort(parts: Parts) -> Effort | None:
    return (
        parts.options.effort or _level(parts.env.get(EFFORT, "")) or _level(str(parts.settings.get("effortLevel", "")))
    )


def _thinking(parts: Parts) -> Thinking:
    budget = parts.env.get(BUDGET, "").strip()
    if parts.env.get(OFF, "").strip() not in ("", "0", "false"):
        return "disabled"
    if budget.isdecimal():
        return int(budget) or "disabled"
    always = parts.settings.get("alwaysThinkingEnabled")
    return None if always is None else "adaptive" if always else "disabled"


def _level(text: str) -> Effort | None:
    wanted = text.strip().lower()
    return next((level for level in toolpost.EFFORTS if level == wanted), None)
