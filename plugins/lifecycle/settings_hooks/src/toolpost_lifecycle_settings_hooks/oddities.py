"""What is odd about a hook's entry or its answer: it counts as it is, and the person is told what of it does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from toolpost import Rule, SettingsError

_NEEDED: Final[Mapping[str, tuple[str, ...]]] = {
    "command": ("command",),
    "prompt": ("prompt",),
    "agent": ("prompt",),
    "http": ("url",),
    "mcp_tool": ("server", "tool"),
    "callback": ("callback",),
    "function": ("function",),
}
"""The types of hooks that come with Toolpost, and what each can't do without."""
_KEYS: Final = (
    *("type", "if", "timeout", "statusMessage", "once", "onFailure"),
    *("command", "args", "shell", "async", "asyncRewake"),
    *("url", "headers", "allowedEnvVars", "server", "tool", "input"),
    *("prompt", "model", "continueOnBlock", "callback", "function"),
)
_TOP: Final = (
    *("continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason"),
    *("hookSpecificOutput", "async", "asyncTimeout"),
)
_SPECIFIC: Final[Mapping[str, tuple[str, ...]]] = {
    "PreToolUse": ("permissionDecision", "permissionDecisionReason", "updatedInput"),
    "PreSkillShellCommand": ("permissionDecision", "permissionDecisionReason", "updatedInput"),
    "PreModelSwitch": ("permissionDecision", "permissionDecisionReason"),
    "PermissionRequest": ("decision",),
    "PermissionDenied": ("retry",),
    "PostToolUse": ("updatedToolOutput", "updatedMCPToolOutput"),
    "UserPromptSubmit": ("sessionTitle", "suppressOriginalPrompt"),
    "UserPromptExpansion": ("sessionTitle", "suppressOriginalPrompt"),
    "SessionStart": ("initialUserMessage", "sessionTitle", "watchPaths"),
    "CwdChanged": ("watchPaths",),
    "FileChanged": ("watchPaths",),
    "WorktreeCreate": ("worktreePath",),
    "Elicitation": ("action", "content"),
    "ElicitationResult": ("action", "content"),
    "MessageDisplay": ("displayContent",),
}
"""What counts in `hookSpecificOutput` at each event, beside what counts at all."""
_AT_ALL: Final = ("hookEventName", "additionalContext")
AT_THE_TOP_TOO: Final = ("permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext")
"""Names of `hookSpecificOutput` that older hooks write beside it: a refusal there must not be passed over."""


def odd_entry(handler: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is odd about an entry; each text goes on from the entry's place."""
    kind = handler["type"]
    if kind not in _NEEDED and (near := _near(kind, _NEEDED)):
        yield f"is of type {kind!r}{near}"
    for name in _NEEDED.get(kind, ()):
        if not handler.get(name):
            yield f"needs a {name!r} to do anything"
    for name in handler:
        if name not in _KEYS and (near := _near(name, _KEYS)):
            yield f"has {name!r}, which means nothing{near}"
    if "if" in handler and (wrong := _why_no_rule(handler["if"])):
        yield f"has the if {handler['if']!r}, which is no permission rule, so that it runs for every call: {wrong}"


def odd_answer(event: str, output: Mapping[str, Any]) -> Iterator[str]:
    """Yield what of an answer means nothing; what is nobody's name is left to whoever wrote it."""
    specific = output.get("hookSpecificOutput")
    known = (*_AT_ALL, *_SPECIFIC.get(event, ()))
    for name in specific if isinstance(specific, Mapping) else ():
        if name not in known:
            yield f"hookSpecificOutput.{name} means nothing at {event}{_near(name, known)}"
    for name in output:
        if name in _TOP or (name in AT_THE_TOP_TOO and name in known):
            continue
        if name == "terminalSequence":
            yield f"{name} means nothing here: nobody writes it to the terminal"
        elif name in known:
            yield f"{name} means nothing at the top; it belongs into hookSpecificOutput"
        elif near := _near(name, _TOP):
            yield f"{name} means nothing{near}"


def _why_no_rule(text: Any) -> str:
    try:
        Rule.parse(text, "ask")
    except SettingsError as error:
        return str(error)
    except AttributeError:
        return "it must be a text"
    return ""


def _near(name: object, known: Iterable[str]) -> str:
    """Name what was meant perhaps; empty where nothing is near."""
    close = get_close_matches(str(name), list(known), n=1, cutoff=0.75)
    return f"; did you mean {close[0]!r}?" if close else ""
