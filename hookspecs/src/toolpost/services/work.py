"""Services of sub-agents, background tasks, MCP servers and skills."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from toolpost._frozen import frozen

if TYPE_CHECKING:
    from toolpost.agents import AgentDefinition


@frozen(kw_only=True)
class AgentRequest:
    """A sub-agent to run.

    `definition` says what kind of agent it is: its prompt, tools, model, turns, isolation and hooks; without one it is like
    its parent. One that asks for a stricter permission mode than its session's is refused, and what else it asks for and
    is not given is told. A `model` or `isolation` here comes before the definition's. `tool_use_id` is the call that it is
    run for: front ends are told its messages as parts of that one, and of none where it is empty.
    """

    prompt: str
    description: str = ""
    agent_type: str = "general"
    model: str | None = None
    isolation: str = "none"
    background: bool = False
    definition: AgentDefinition | None = None
    tool_use_id: str = ""


@frozen(kw_only=True)
class AgentResult:
    """What a sub-agent came to; `content` holds text blocks, also where it ended early (`error` then says why)."""

    agent_id: str
    content: Sequence[Mapping[str, Any]]
    error: str | None = None
    total_tokens: int = 0
    tool_uses: int = 0
    duration: float = 0.0


class Agents(Protocol):
    """Runs sub-agents; offered by core.

    One has a conversation and a transcript of its own. It shares with its parent the budget, the permissions, what plugins
    offer, and its end: whatever aborts the turn that runs it aborts it.
    """

    async def run(self, request: AgentRequest) -> AgentResult:
        """Run one to its end; cancelling the call aborts it.

        Raises SessionError where no enabled plugin runs agents with the request's `isolation`, and where the agent that asks
        is itself as many agents deep as may be. What goes wrong later is the result's `error`.
        """


@frozen(kw_only=True)
class TaskInfo:
    """A background task. `ending` says how it ended, such as "exit code 1"; empty while it runs.

    `command` is what a shell was given, `tool_use_id` the call that started the task.
    """

    task_id: str
    kind: str
    description: str
    status: Literal["running", "completed", "failed", "stopped"]
    ending: str = ""
    output_file: Path | None = None
    command: str = ""
    tool_use_id: str = ""


@frozen()
class TaskEnd:
    """How the work of a task came to its end."""

    status: Literal["completed", "failed"]
    ending: str


@frozen(kw_only=True)
class TaskWork:
    """Work to be done in the background.

    `run` does it. It is cancelled where the task is stopped or the session ends, and whatever it started must end with it.
    `output` returns what there is so far, as a text for the model. At the model's end a session without a person waits
    for it as many seconds from its beginning as `awaited` says, where the model did not put it into the background itself.
    """

    kind: str
    description: str
    run: Callable[[], Awaitable[TaskEnd]]
    output: Callable[[], str]
    output_file: Path | None = None
    command: str = ""
    tool_use_id: str = ""
    awaited: float = 0.0


class Tasks(Protocol):
    """Background work that outlives the call that started it, and ends with the session.

    The model is told of each end in its next request, unless it waited for it or stopped the task itself.
    """

    async def begin(self, work: TaskWork) -> TaskInfo:
        """Let work begin and return at once."""

    def list(self) -> Sequence[TaskInfo]:
        """All tasks of the session, oldest first."""

    def get(self, task_id: str) -> TaskInfo:
        """One of them. Raises ToolFailed for an unknown id."""

    def output(self, task_id: str) -> str:
        """What it came to so far, as a text for the model. Raises ToolFailed for an unknown id."""

    async def wait(self, task_id: str, timeout: float) -> TaskInfo:
        """Wait for the end of a task, at most `timeout` seconds. Raises ToolFailed for an unknown id."""

    async def stop(self, task_id: str) -> TaskInfo:
        """Stop one and wait until it ended. Raises ToolFailed for an unknown id and for a task that does not run."""


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
