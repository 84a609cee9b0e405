"""What the model reads of a call that was refused, called off or failed; each reads differently."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolpost import Aborted, ToolError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolpost import InvalidInput, Tool
    from toolpost_core.permissions.combine import Verdict
    from toolpost_core.tools.permit import Settled

ABORT_TEXTS: Mapping[str, str] = {
    "user_cancel": "The user interrupted the turn: this call was called off. Wait for what the user says next.",
    "interrupt": "The user sent a new message: this call was called off.",
    "sibling_error": "Called off: another call of the same answer failed.",
    "rejected": "The user refused a call of this answer and stopped the turn: this call was called off.",
    "discard": (
        "Called off: your answer broke off before it was complete, and its open calls were discarded. If this one had "
        "begun, it may have had effects: look before you call it again."
    ),
    "engine_stop": "The session ended before this call did.",
}

PUT_OFF = (
    "A hook put this call off until the run is taken up again. Only a call that is alone in its answer can wait for that, "
    "so it was not made: call it again by itself."
)


def wrong_input(tool: Tool[Any], error: InvalidInput) -> str:
    """Return the text for an input of the wrong shape; it says how to mend it."""
    text = f"InputValidationError: {tool.name} was called with a wrong input.\n{error.for_model}"
    if tool.should_defer and not tool.always_load:
        text += f"\nThe schema of {tool.name} was not sent to you: find it with ToolSearch before you call it again."
    return text


def denial(verdict: Verdict, failure: str | None = None) -> str:
    """Return the text for a call that a rule, a hook or anybody else but a person denied."""
    if failure is not None and verdict.resolver == "PreToolUse hook":
        return f"The call was not made because {failure}. This is not a decision of the user."
    if verdict.resolver == "PreToolUse hook":
        return f"A hook denied this call: {verdict.reason}"
    return f"Permission denied: {verdict.reason}"


def rejection(settled: Settled) -> str:
    """Return the text for an ask that was answered no."""
    reason = settled.decision.reason
    if settled.by == "hook":
        return f"A hook denied this call: {reason}"
    if settled.by == "nobody":
        return f"Permission denied: {reason}"
    said = f" They said: {reason}" if reason else ""
    then = " Stop here and wait for what the user says next." if settled.stop or not reason else ""
    return f"The user refused this call.{said}{then}"


def failure(name: str, error: Exception) -> str:
    """Return the text for a call that ran and failed."""
    if isinstance(error, Aborted):
        text = ABORT_TEXTS.get(error.reason, str(error))
        return f"{text}\nUntil then it had come to:\n{error.so_far}" if error.so_far else text
    if isinstance(error, ToolError):
        return error.for_model
    return f"{name} failed: {type(error).__name__}: {error}"
