"""What a hook said, read strictly: an answer that does not fit is an error and never an allow (compat.md 2.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from toolpost import HookAnswer
from toolpost_lifecycle_settings_hooks.oddities import AT_THE_TOP_TOO

TEXT_IS_CONTEXT: Final = ("UserPromptSubmit", "UserPromptExpansion", "SessionStart")
_TYPES: Final[Mapping[str, type]] = {
    "continue": bool,
    "stopReason": str,
    "systemMessage": str,
    "decision": str,
    "reason": str,
    "hookSpecificOutput": Mapping,
}
_SPECIFIC_TYPES: Final[Mapping[str, type]] = {
    "additionalContext": str,
    "permissionDecision": str,
    "permissionDecisionReason": str,
    "updatedInput": Mapping,
    "retry": bool,
    "sessionTitle": str,
    "suppressOriginalPrompt": bool,
    "initialUserMessage": str,
    "watchPaths": list,
    "worktreePath": str,
    "displayContent": str,
    "action": str,
    "content": Mapping,
}
_VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    "decision": ("approve", "block"),
    "permissionDecision": ("allow", "deny", "ask", "defer"),
    "action": ("accept", "decline", "cancel"),
    "behavior": ("allow", "deny"),
}
_NAMES: Final[Mapping[type, str]] = {bool: "true or false", str: "a text", Mapping: "an object", list: "a list"}


class AnswerError(ValueError):
    """Raised when a hook's answer does not fit; says which part."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """A hook's answer. `block` stands for exit code 2 and for a decision that blocks; `approve` for its opposite."""

    block: bool = False
    approve: bool = False
    reason: str = ""
    context: str = ""
    stop: bool = False
    stop_reason: str = ""
    system_message: str = ""
    specific: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""


def read_answer(event: str, answer: HookAnswer) -> Said:
    """Read what a hook that ran said about an event. Raises AnswerError."""
    blocked = answer.status == "blocked"
    try:
        said = _read(event, answer)
    except AnswerError:
        if not blocked:
            raise
        said = Said()
    if not blocked:
        return said
    # Of what it wrote besides, nothing counts that could be an allow.
    return replace(said, block=True, approve=False, reason=answer.reason, specific={}, text="")


def decides(output: Mapping[str, Any]) -> bool:
    """Whether an answer has a decision of its own, so that it counts whatever the exit code is."""
    specific = output.get("hookSpecificOutput")
    beside = specific if isinstance(specific, Mapping) else {}
    return any(name in said for name in ("decision", "permissionDecision") for said in (output, beside))


def _read(event: str, answer: HookAnswer) -> Said:
    output = answer.output
    _check(output, _TYPES, "")
    beside = {name: output[name] for name in AT_THE_TOP_TOO if name in output}
    specific = {**beside, **(output.get("hookSpecificOutput") or {})}
    _check(specific, _SPECIFIC_TYPES, "hookSpecificOutput.")
    named = specific.get("hookEventName", event)
    if named != event:
        raise AnswerError(f"hookSpecificOutput.hookEventName is {named!r}, and the event is {event!r}")
    text = answer.text if event in TEXT_IS_CONTEXT else ""
    return Said(
        block=output.get("decision") == "block",
        approve=output.get("decision") == "approve",
        reason=output.get("reason") or "",
        context="\n".join(part for part in (text, specific.get("additionalContext")) if part),
        stop=output.get("continue") is False,
        stop_reason=output.get("stopReason") or "",
        system_message=output.get("systemMessage") or "",
        specific=specific,
        text=answer.text,
    )


def _check(values: Mapping[str, Any], types: Mapping[str, type], where: str) -> None:
    for name, kind in types.items():
        value = values.get(name)
        if value is not None and not isinstance(value, kind):
            raise AnswerError(f"{where}{name} must be {_NAMES[kind]}, not {value!r:.100}")
        check_value(name, value, where)


def check_value(name: str, value: Any, where: str = "") -> None:
    """Raise AnswerError where a value is none of those that its name allows."""
    allowed = _VALUES.get(name)
    if allowed and value is not None and value not in allowed:
        raise AnswerError(f"{where}{name} is {value!r:.100}; it may be {', '.join(allowed)}")
