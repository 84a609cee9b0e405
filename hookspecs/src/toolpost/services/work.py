"""Services of sub-agents, background tasks, MCP servers and skills."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol


@dataclass(frozen=True, kw_only=True)
class AgentRequest:
    """A sub-agent to run."""

    prompt: str
    description: str = ""
    agent_type: str = "general"
    model: str | None = None
    isolation: Literal["none", "worktree", "remote"] = "none"
    background: bool = False


@dataclass(frozen=True, kw_only=True)
class AgentResult:
    """What a sub-agent came to; `content` holds text blocks, also where it ended early (`error` then says why)."""

    agent_id: str
    content: Sequence[Mapping[str, Any]]
    error: str | None = None
    total_tokens: int = 0
    tool_uses: int = 0
    duration: float = 0.0


class Agents(Protocol):
    """Runs sub-agents."""

    async def run(self, request: AgentRequest) -> AgentResult:
        """Run one to its end; cancelling the call aborts it."""


@dataclass(frozen=True, kw_only=True)
class TaskInfo:
    """A background task."""

    task_id: str
    kind: str
    description: str
    status: Literal["running", "completed", "failed", "stopped"]
    output_file: Path | None = None


class Tasks(Protocol):
    """Background work that outlives the call that started it."""

    def list(self) -> Sequence[TaskInfo]:
        """All tasks of the session, oldest first."""

    async def stop(self, task_id: str) -> TaskInfo:
        """Stop one. Raises ToolFailed for an unknown id."""


class Mcp(Protocol):
    """The MCP servers of the session."""

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call a tool and return the result as MCP defines it. Raises ToolFailed."""

    def servers(self) -> Mapping[str, str]:
        """Server name to status: connected, pending, failed, needs-auth or disabled."""


class Skills(Protocol):
    """The skills that the session knows."""

    def names(self) -> Sequence[str]:
        """Their names, sorted."""

    async def load(self, name: str, arguments: str = "") -> str:
        """Return the text that the model gets. Raises ToolFailed for an unknown name."""
