"""Skill loaders: where skills and slash commands come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from toolpost._frozen import frozen
from toolpost._hooks import hookimpl
from toolpost._plugin import Plugin

if TYPE_CHECKING:
    from toolpost.session import SessionScope


@frozen(kw_only=True)
class Skill:
    """A skill or slash command. `body` is what the model gets, before arguments are filled in."""

    name: str
    description: str
    body: str
    source: Literal["bundled", "user", "project", "managed", "plugin", "mcp", "remote"] = "user"
    folder: Path | None = None
    when_to_use: str = ""
    argument_hint: str = ""
    allowed_tools: tuple[str, ...] = ()
    model: str | None = None
    user_invocable: bool = True
    model_invocable: bool = True
    fork: bool = False
    agent: str | None = None
    hooks: Mapping[str, Any] = field(default_factory=dict)
    paths: tuple[str, ...] = ()


class SkillLoader(Plugin, ABC):
    """Finds skills."""

    @abstractmethod
    async def load(self, scope: SessionScope) -> Sequence[Skill]:
        """Return the skills. Of two with one name, the one of the more specific source wins and both are named."""

    @hookimpl(specname="skill_loaders")
    def _skill_loaders(self) -> Sequence[SkillLoader]:
        return (self,)
