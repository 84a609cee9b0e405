"""What happens in a session, as front ends and programs hear of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from toolpost._frozen import frozen

if TYPE_CHECKING:
    from toolpost.frontends import View
    from toolpost.messages import Message
    from toolpost.providers import StreamEvent, Usage
    from toolpost.queue import Queued


@frozen(kw_only=True)
class SessionStarted:
    """Opens each prompt's run."""

    session_id: str
    cwd: Path
    model: str
    tools: Sequence[str]
    permission_mode: str
    credential_source: str = "none"
    plugins: Sequence[Mapping[str, Any]] = ()
    plugin_errors: Sequence[Mapping[str, Any]] = ()
    mcp_servers: Sequence[Mapping[str, Any]] = ()
    slash_commands: Sequence[str] = ()
    skills: Sequence[str] = ()
    agents: Sequence[str] = ()
    version: str = ""


@frozen()
class Streaming:
    """A piece of the model's answer as it comes."""

    event: StreamEvent


@frozen(kw_only=True)
class AssistantMessage:
    """A complete block of the model's answer, as a message of its own; blocks of one answer share `message_id`.

    `supersedes` are the uuids of messages that were discarded: this answer takes their place.
    """

    message: Message
    message_id: str
    model: str
    uuid: str
    usage: Usage
    parent_tool_use_id: str | None = None
    error: str | None = None
    supersedes: Sequence[str] = ()


@frozen(kw_only=True)
class UserMessage:
    """A message that goes to the model: results of calls, or text that core put in (`synthetic`)."""

    message: Message
    uuid: str
    parent_tool_use_id: str | None = None
    tool_use_result: Any = None
    synthetic: bool = False


@frozen()
class PromptTaken:
    """A prompt that waited in the queue is read now: it begins a turn, or goes with the results of calls."""

    prompt: Queued


@frozen(kw_only=True)
class ToolStarted:
    """A call passed its gates and runs."""

    tool_use_id: str
    tool_name: str
    summary: str
    activity: str


@frozen(kw_only=True)
class ToolProgressed:
    """A running call got on."""

    tool_use_id: str
    tool_name: str
    text: str
    elapsed: float
    data: Mapping[str, Any] = field(default_factory=dict)


@frozen(kw_only=True)
class ToolFinished:
    """A call has its result; `text` is what the model reads, `view` how to show it, `duration` in seconds."""

    tool_use_id: str
    tool_name: str
    summary: str
    is_error: bool
    text: str
    view: View | None = None
    duration: float = 0.0


@frozen()
class Notice:
    """Something the person should know; `level` says how loudly."""

    text: str
    level: Literal["info", "warning", "error"] = "info"
    kind: str = "informational"
    data: Mapping[str, Any] = field(default_factory=dict)


Remedy: TypeAlias = Literal["compact", "rewind", "clear"]


@frozen(kw_only=True)
class RunResult:
    """Closes each prompt's run, exactly once.

    `subtype` is success, error_during_execution, error_max_turns, error_max_budget_usd or
    error_max_structured_output_retries; `stop_reason` the model's, `terminal_reason` the loop's named end. `usage` is that
    of the session's own requests in this run; `cost_usd` and `model_usage` are the session's so far, whoever asked.
    `remedies` are what helps against the error: to shorten the conversation, to go back to an earlier prompt, to begin a new
    one; how that is done is the front end's to say. `deferred_tool_use` has `id`, `name` and `input` of the call that a
    hook put off, which ended the run.
    """

    subtype: str
    is_error: bool
    text: str
    session_id: str
    terminal_reason: str
    stop_reason: str | None = None
    turns: int = 0
    duration: float = 0.0
    api_duration: float = 0.0
    cost_usd: float = 0.0
    usage: Usage
    model_usage: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    permission_denials: Sequence[Mapping[str, Any]] = ()
    structured_output: Any = None
    errors: Sequence[str] = ()
    remedies: Sequence[Remedy] = ()
    deferred_tool_use: Mapping[str, Any] | None = None


SessionEvent: TypeAlias = (
    SessionStarted
    | Streaming
    | AssistantMessage
    | UserMessage
    | PromptTaken
    | ToolStarted
    | ToolProgressed
    | ToolFinished
    | Notice
    | RunResult
)
