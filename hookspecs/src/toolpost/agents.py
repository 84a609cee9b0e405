"""Agent loaders: where definitions of sub-agents come from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from toolpost._frozen import frozen
from toolpost._hooks import hookimpl
from toolpost._plugin import Plugin

if TYPE_CHECKING:
    from toolpost.permissions import PermissionMode
    from toolpost.session import SessionScope


@frozen(kw_only=True)
class AgentDefinition:
    """A kind of sub-agent. `tools` None means all that a sub-agent may have; `model` None means the parent's."""

    name: str
    description: str
    prompt: str
    tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    model: str | None = None
    permission_mode: PermissionMode | None = None
    max_turns: int | None = None
    background: bool = False
    isolation: Literal["none", "worktree", "remote"] = "none"
    skills: tuple[str, ...] = ()
    mcp_servers: tuple[str, ...] = ()
    hooks: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""


class AgentLoader(Plugin, ABC):
    """Finds agent definitions."""

    @abstractmethod
    async def load(self, scope: SessionScope) -> Sequence[AgentDefinition]:
        """Return the definitions. Of two with one name, the one of the more specific source wins and both are named."""

    @hookimpl(specname="agent_loaders")
    def _agent_loaders(self) -> Sequence[AgentLoader]:
        return (self,)
