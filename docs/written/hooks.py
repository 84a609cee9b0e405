"""What hooks of settings.json get and may answer, event by event: worked out by asking the plugin that runs them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from toolpost import BlockOutcome, Event, EventBase, ModelRequest
from toolpost.testing.lifecycle import bare, types_of
from toolpost_lifecycle_settings_hooks.matchers import SUBJECTS
from toolpost_lifecycle_settings_hooks.outcomes import outcome_of
from toolpost_lifecycle_settings_hooks.payloads import payload_of
from toolpost_lifecycle_settings_hooks.said import TEXT_IS_CONTEXT, Said

INTRODUCTION: Final = """\
## What hooks of settings.json get and may answer

The JSON on a hook's standard input has `session_id`, `transcript_path`, `cwd`, `permission_mode` and `hook_event_name`,
after the first prompt `prompt_id`, where an effort was chosen `effort` with its `level`, in a sub-agent `agent_id` and
`agent_type`, and the fields of the event below; those in brackets are left out where they are empty. The transcript's file
begins with the first prompt: before that there is none, unless a session goes on. Output is plain text or one JSON object.
Any object may have `continue: false` with a `stopReason`, and `systemMessage`; `additionalContext` stands in
`hookSpecificOutput`, whose `hookEventName` is the event. What else counts is below: `decision` and `reason` at the top,
other names in `hookSpecificOutput`. What it does is in the table above. With another exit code than 0 and 2, only JSON
with one of these names counts; anything else is a failure, and so is any such code of a hook with `onFailure: "block"`
whose JSON decides nothing.

"""
_OUTPUT: Final[Mapping[str, str]] = {
    "PreToolUseOutcome": "`permissionDecision` (allow, deny, ask, defer), `permissionDecisionReason`, `updatedInput`",
    "PermissionRequestOutcome": (
        "`decision` with `behavior` (allow, deny), `message`, `interrupt`, `updatedInput`, `updatedPermissions`"
    ),
    "PermissionDeniedOutcome": "`retry`",
    "PostToolUseOutcome": "`updatedToolOutput`, `updatedMCPToolOutput`",
    "UserPromptSubmitOutcome": "`sessionTitle`, `suppressOriginalPrompt`",
    "SessionStartOutcome": "`initialUserMessage`, `sessionTitle`, `watchPaths`",
    "WatchOutcome": "`watchPaths`",
    "WorktreeOutcome": "`worktreePath`; of plain text the last line is the path",
    "ElicitationOutcome": "`action` (accept, decline, cancel), `content`",
    "MessageDisplayOutcome": "`displayContent`",
    "BeforeModelOutcome": "",
    "BlockOutcome": "",
    "Outcome": "",
}
"""The names in `hookSpecificOutput` that become an outcome's fields."""
_BLOCKING: Final[Mapping[str, str]] = {
    "PostToolUse": "is read by the model: the call has run",
    "PostToolUseFailure": "is read by the model: the call has run",
    "PostToolBatch": "ends the turn",
    "BeforeModel": "ends the turn",
    "Stop": "keeps the model going, which reads it",
    "SubagentStop": "keeps the sub-agent going, which reads it",
    "TeammateIdle": "keeps the teammate going, which reads it",
}
"""What blocking is where nothing is held back."""
_REASON: Final = "why"


def configured_table(events: Iterable[Event[Any, Any]]) -> str:
    """Return the section with its table."""
    rows = ["| event | matcher runs on | input | output | exit code 2 |", "|---|---|---|---|---|", *map(_row, events)]
    return INTRODUCTION + "\n".join(rows) + "\n\n"


def _row(event: Event[Any, Any]) -> str:
    subject = SUBJECTS.get(event.title)
    field = f"`{subject}`" if subject else "nothing"
    told = ", ".join(_input(event)) or "no more"
    return f"| `{event.title}` | {field} | {told} | {_output(event)} | {_exit_2(event)} |"


def _input(event: Event[Any, Any]) -> Iterator[str]:
    value = _example(event)
    kept = payload_of(event.title, value)
    common = payload_of(event.title, _nothing(value))
    given = [field.name for field in dataclasses.fields(value) if field.name != "origin"]
    names = ["duration_ms" if name == "duration" else name for name in given]
    names += [name for name in kept if name not in names and name not in common]
    full = payload_of(event.title, dataclasses.replace(value, **_filled(value)))
    for name in names:
        if name in kept:
            yield f"`{name}`"
        elif name in full:
            yield f"[`{name}`]"


def _example(event: Event[Any, Any]) -> Any:
    value: Any = bare(types_of(event)[0])
    if any(field.name == "request" for field in dataclasses.fields(value)):
        value = dataclasses.replace(value, request=ModelRequest(model="m", messages=()))
    return value


def _nothing(value: Any) -> Any:
    """Return an event that has nothing but its origin."""
    return EventBase(origin=value.origin)


def _filled(value: Any) -> dict[str, Any]:
    """Return something for each field that is empty, so that it is not left out."""
    empty = [f.name for f in dataclasses.fields(value) if f.name != "origin" and not getattr(value, f.name)]
    return {name: ("x",) for name in empty if not isinstance(getattr(value, name), bool | int | float)}


def _output(event: Event[Any, Any]) -> str:
    kind = types_of(event)[1]
    own = (
        _OUTPUT["PreToolUseOutcome"].rpartition(", ")[0] if event.title == "PreModelSwitch" else _OUTPUT[kind.__name__]
    )
    block = '`decision: "block"`, `reason`' if issubclass(kind, BlockOutcome) else ""
    text = "plain text is context" if event.title in TEXT_IS_CONTEXT else ""
    return "; ".join(part for part in (block, own, text) if part) or "nothing more"


def _exit_2(event: Event[Any, Any]) -> str:
    """Say what comes of a hook that ends with exit code 2, whose reason is what it wrote to standard error."""
    outcome = outcome_of(event.title, Said(block=True, reason=_REASON), _example(event))
    decided = getattr(outcome, "decision", None) or getattr(outcome, "action", None)
    if decided is not None:
        return f"counts as {decided}"
    if getattr(outcome, "block", False):
        return _BLOCKING.get(event.title, "blocks")
    return "is shown to the person" if _REASON in outcome.system_message else "has no effect"
