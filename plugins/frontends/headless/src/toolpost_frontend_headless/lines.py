"""The lines of stream-json: one session event in, the JSON objects that show it out. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from toolpost import (
    AssistantMessage,
    Notice,
    Retrying,
    RunResult,
    SessionEvent,
    SessionStarted,
    Streaming,
    ToolProgressed,
    UserMessage,
)

from .wire import WireStream, fresh_id, usage_object

Line = dict[str, Any]

ANSWER: Final = "control_response"
"""The kind of a notice that is the answer to a control request."""
_OF_NO_TURN: Final = ("bad_input_line", ANSWER)

# Where the loop's name for an end differs from the one that programs know.
_TERMINAL_REASONS = {"max_budget": "budget_exhausted"}
_INTERRUPTIONS: Final = {"aborted_streaming": "the model answered", "aborted_tools": "tools ran"}
"""What went on when a run was interrupted, by its terminal reason."""


class StreamLines:
    """Makes the lines of one session; `partial` adds the raw streaming events, `new_id` makes ids of lines.

    Programs expect system/init as the first line of a turn, so notices of one that has not begun yet come behind it.
    """

    def __init__(
        self, session_id: str, version: str, *, partial: bool = False, new_id: Callable[[], str] = fresh_id
    ) -> None:
        self.session_id = session_id
        self._version = version
        self._partial = partial
        self._new_id = new_id
        self._wire = WireStream(new_id=new_id)
        self._shown: dict[str, float] = {}
        self._begun = False
        self._early: list[Notice] = []

    def of(self, event: SessionEvent) -> Iterator[Line]:
        """Yield the lines that an event is shown as; many events have none."""
        if isinstance(event, SessionStarted):
            self.session_id = event.session_id
            self._wire = WireStream(event.model, self._new_id)
            yield self._line(init_fields(event, self._version))
            yield from self._begins()
        elif isinstance(event, Streaming):
            yield from self._streaming(event)
        elif isinstance(event, AssistantMessage):
            yield self._line(assistant_fields(event), event.uuid)
        elif isinstance(event, UserMessage):
            yield self._line(user_fields(event), event.uuid)
        elif isinstance(event, ToolProgressed):
            yield from self._progress(event)
        elif isinstance(event, Notice):
            yield from self._notice(event)
        elif isinstance(event, RunResult):
            self.session_id = event.session_id or self.session_id
            if self._partial:
                yield from (self._raw(raw) for raw in self._wire.close())
            self._shown.clear()
            yield from self._begins()
            self._begun = False
            yield self._line(result_fields(event))

    def _begins(self) -> Iterator[Line]:
        early, self._early, self._begun = self._early, [], True
        for notice in early:
            yield from self._notice(notice)

    def _notice(self, notice: Notice) -> Iterator[Line]:
        if self._begun or notice.kind in _OF_NO_TURN:
            yield {"type": ANSWER, **notice.data} if notice.kind == ANSWER else self._line(notice_fields(notice))
        else:
            self._early.append(notice)

    def _streaming(self, event: Streaming) -> Iterator[Line]:
        if isinstance(event.event, Retrying):
            yield self._line(retry_fields(event.event))
        elif self._partial:
            yield from (self._raw(raw) for raw in self._wire.feed(event.event))

    def _progress(self, event: ToolProgressed) -> Iterator[Line]:
        """At most a line a second for each call, by the call's own clock."""
        last = self._shown.get(event.tool_use_id)
        if last is None or event.elapsed - last >= 1:
            self._shown[event.tool_use_id] = event.elapsed
            yield self._line(
                {
                    "type": "tool_progress",
                    "tool_use_id": event.tool_use_id,
                    "tool_name": event.tool_name,
                    "parent_tool_use_id": None,
                    "elapsed_time_seconds": round(event.elapsed, 3),
                }
            )

    def _raw(self, raw: Line) -> Line:
        return self._line({"type": "stream_event", "event": raw, "parent_tool_use_id": None})

    def _line(self, fields: Line, uuid: str = "") -> Line:
        return {**fields, "session_id": self.session_id, "uuid": uuid or self._new_id()}


def init_fields(event: SessionStarted, version: str) -> Line:
    """Return system/init."""
    fields: Line = {
        "type": "system",
        "subtype": "init",
        "cwd": str(event.cwd),
        "tools": list(event.tools),
        "mcp_servers": [dict(server) for server in event.mcp_servers],
        "model": event.model,
        "permissionMode": event.permission_mode,
        "slash_commands": list(event.slash_commands),
        "apiKeySource": event.credential_source,
        "toolpost_version": event.version or version,
        "output_style": "default",
        "agents": list(event.agents),
        "skills": list(event.skills),
        "plugins": [dict(plugin) for plugin in event.plugins],
    }
    if event.plugin_errors:
        fields["plugin_errors"] = [dict(error) for error in event.plugin_errors]
    return fields


def assistant_fields(event: AssistantMessage) -> Line:
    """Return assistant: one completed block, in the envelope of a Messages API message."""
    content = event.message["content"]
    message = {
        "id": event.message_id,
        "type": "message",
        "role": "assistant",
        "model": event.model,
        "content": [{"type": "text", "text": content}] if isinstance(content, str) else content,
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage_object(event.usage),
    }
    fields: Line = {"type": "assistant", "message": message, "parent_tool_use_id": event.parent_tool_use_id}
    if event.error is not None:
        fields["error"] = event.error
    if event.supersedes:
        fields["supersedes"] = list(event.supersedes)
    return fields


def user_fields(event: UserMessage) -> Line:
    """Return user: results of calls, or text that core put in."""
    fields: Line = {"type": "user", "message": event.message, "parent_tool_use_id": event.parent_tool_use_id}
    if event.tool_use_result is not None:
        fields["tool_use_result"] = event.tool_use_result
    if event.synthetic:
        fields["isSynthetic"] = True
    return fields


def retry_fields(event: Retrying) -> Line:
    """Return system/api_retry."""
    return {
        "type": "system",
        "subtype": "api_retry",
        "attempt": event.attempt,
        "max_retries": event.of,
        "retry_delay_ms": round(event.delay * 1000),
        "error_status": event.status,
        "error": event.error,
    }


def notice_fields(event: Notice) -> Line:
    """Return a system line whose subtype is the notice's kind."""
    return {**event.data, "type": "system", "subtype": event.kind, "content": event.text, "level": event.level}


def result_fields(event: RunResult) -> Line:
    """Return result, the same object that `--output-format json` prints."""
    fields: Line = {
        "type": "result",
        "subtype": event.subtype,
        "is_error": event.is_error,
        "duration_ms": round(event.duration * 1000),
        "duration_api_ms": round(event.api_duration * 1000),
        "num_turns": event.turns,
        "stop_reason": event.stop_reason,
        "total_cost_usd": event.cost_usd,
        "usage": usage_object(event.usage),
        "modelUsage": {model: dict(used) for model, used in event.model_usage.items()},
        "permission_denials": [dict(denial) for denial in event.permission_denials],
        "terminal_reason": _TERMINAL_REASONS.get(event.terminal_reason, event.terminal_reason),
    }
    if event.subtype == "success":
        fields["result"] = event.text
    else:
        fields["errors"] = list(event.errors) or [why_it_failed(event)]
    if event.deferred_tool_use is not None:
        fields["deferred_tool_use"] = dict(event.deferred_tool_use)
    if event.structured_output is not None:
        fields["structured_output"] = event.structured_output
    return fields


def why_it_failed(result: RunResult) -> str:
    """Say why a run ended in an error; the text of one that was interrupted is what the model said before."""
    if result.terminal_reason in _INTERRUPTIONS:
        return f"The run was interrupted while {_INTERRUPTIONS[result.terminal_reason]}."
    return "; ".join(result.errors) or result.text or f"The run ended: {result.terminal_reason}."


def what_helps(result: RunResult) -> list[str]:
    """Return the commands that help against the error of a run."""
    commands = {
        "compact": f"`toolpost compact {result.session_id}` shortens it.",
        "clear": "A run without --resume and --continue begins a new one.",
    }
    return [commands[remedy] for remedy in result.remedies if remedy in commands]


def encode(line: Mapping[str, Any]) -> bytes:
    """Return a line as JSON in ASCII, so that no character of it can be taken for a line's end or break an encoding."""
    try:
        text = json.dumps(line, separators=(",", ":"), default=str, allow_nan=False)
    except (ValueError, TypeError):
        text = json.dumps(_finite(line), separators=(",", ":"), default=str)
    return text.encode("ascii") + b"\n"


def _finite(value: Any) -> Any:
    """Replace the numbers that JSON can't hold by null, and make every key text."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value
