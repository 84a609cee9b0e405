"""From what a hook said to the outcome of its event (the table of compat.md 2.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

import toolpost
from toolpost import EventBase, Outcome
from toolpost_lifecycle_settings_hooks.said import AnswerError, Said, check_value

Build: TypeAlias = Callable[[Said], Mapping[str, Any]]

_NO_REASON: Final = "A hook blocked this and gave no reason."
_BLOCK_IS_SHOWN: Final = (
    "SessionStart",
    "Setup",
    "SessionEnd",
    "CwdChanged",
    "FileChanged",
    "PostCompact",
    "SubagentStart",
    "PostModelSwitch",
    "AfterModel",
)
"""Events at which there is nothing to block: the person reads the reason."""
_STOP_IS_BLOCK: Final = ("TaskCompleted", "TeammateIdle")
_STOP_IS_NOTHING: Final = ("TaskCreated",)
_MCP_OUTPUT: Final = "updatedMCPToolOutput"
"""Replaces the result of MCP tools, and only of those."""


def outcome_of(event: str, said: Said, value: EventBase) -> Outcome:
    """Return the outcome. Raises AnswerError where the answer does not fit the event."""
    kind, build = _OUTCOMES.get(event, ("Outcome", _nothing))
    if getattr(value, "mcp_server", None) is None and _MCP_OUTPUT in said.specific:
        said = replace(said, specific={key: said.specific[key] for key in said.specific if key != _MCP_OUTPUT})
    stops = said.stop and event not in (*_STOP_IS_BLOCK, *_STOP_IS_NOTHING)
    shown = (said.system_message, said.reason if said.block and event in _BLOCK_IS_SHOWN else "")
    common = {
        "additional_context": said.context,
        "stop": stops,
        "stop_reason": said.stop_reason if stops else "",
        "system_message": "\n".join(text for text in shown if text),
    }
    outcome: Outcome = getattr(toolpost, kind)(**{**common, **build(said)})
    return outcome


def context_only(event: str, context: str, message: str) -> Outcome:
    """Return an outcome of the event's type that decides nothing."""
    kind, _ = _OUTCOMES.get(event, ("Outcome", _nothing))
    outcome: Outcome = getattr(toolpost, kind)(additional_context=context, system_message=message)
    return outcome


def watching(event: str, names: Sequence[str]) -> Outcome:
    """Return an outcome of the event's type that names files to watch, and says nothing else."""
    outcome: Outcome = getattr(toolpost, _OUTCOMES[event][0])(watch_paths=tuple(names))
    return outcome


def _nothing(_: Said) -> Mapping[str, Any]:
    return {}


def _verdict(said: Said) -> Mapping[str, Any]:
    specific = said.specific
    stated = specific.get("permissionDecision") or ("allow" if said.approve else None)
    decision = "deny" if said.block else stated
    reason = specific.get("permissionDecisionReason") or said.reason
    if decision == "deny" and not reason:
        reason = _NO_REASON
    return {"decision": decision, "reason": reason, "updated_input": specific.get("updatedInput")}


def _block(said: Said) -> Mapping[str, Any]:
    return {"block": True, "reason": said.reason or _NO_REASON} if said.block else {}


def _feedback(said: Said) -> Mapping[str, Any]:
    updated = said.specific.get("updatedToolOutput", said.specific.get(_MCP_OUTPUT))
    return {**_block(said), "updated_output": updated}


def _prompt(said: Said) -> Mapping[str, Any]:
    return {
        **_block(said),
        "session_title": said.specific.get("sessionTitle") or "",
        "suppress_original_prompt": said.specific.get("suppressOriginalPrompt") is True,
    }


def _start(said: Said) -> Mapping[str, Any]:
    return {
        **_watch(said),
        "initial_user_message": said.specific.get("initialUserMessage") or "",
        "session_title": said.specific.get("sessionTitle") or "",
    }


def _keep_going(said: Said) -> Mapping[str, Any]:
    """At the end of a turn context has nowhere to go but into another round."""
    if said.block or not said.context or said.stop:
        return _block(said)
    return {"block": True, "reason": said.context, "additional_context": ""}


def _complete(said: Said) -> Mapping[str, Any]:
    if said.stop and not said.block:
        return {"block": True, "reason": said.stop_reason or _NO_REASON}
    return _block(said)


def _model_switch(said: Said) -> Mapping[str, Any]:
    """Nobody can be asked about a change of model here, so an ask keeps the old one as a deny does."""
    verdict = _verdict(said)
    refused = verdict["decision"] not in (None, "allow")
    return {"block": True, "reason": verdict["reason"] or _NO_REASON} if refused else {}


def _request(said: Said) -> Mapping[str, Any]:
    decision = said.specific.get("decision")
    if decision is None:
        return {}
    if not isinstance(decision, Mapping) or "behavior" not in decision:
        raise AnswerError(f"hookSpecificOutput.decision must be an object with a behavior, not {decision!r:.100}")
    check_value("behavior", decision["behavior"], "hookSpecificOutput.decision.")
    updated, permissions = decision.get("updatedInput"), decision.get("updatedPermissions") or ()
    if updated is not None and not isinstance(updated, Mapping):
        raise AnswerError("hookSpecificOutput.decision.updatedInput must be an object")
    if not isinstance(permissions, list | tuple) or not all(isinstance(update, Mapping) for update in permissions):
        raise AnswerError("hookSpecificOutput.decision.updatedPermissions must be a list of objects")
    return {
        "decision": decision["behavior"],
        "message": str(decision.get("message") or ""),
        "interrupt": decision.get("interrupt") is True,
        "updated_input": updated,
        "updated_permissions": tuple(permissions),
    }


def _retry(said: Said) -> Mapping[str, Any]:
    return {"retry": said.specific.get("retry") is True}


def _watch(said: Said) -> Mapping[str, Any]:
    return {"watch_paths": tuple(str(path) for path in said.specific.get("watchPaths") or ())}


def _worktree(said: Said) -> Mapping[str, Any]:
    """A program names the folder on its last line, others in their JSON."""
    lines = [line.strip() for line in said.text.splitlines() if line.strip()]
    path = said.specific.get("worktreePath") or (lines[-1] if lines else None)
    return {**_block(said), "path": path}


def _elicit(said: Said) -> Mapping[str, Any]:
    if said.block:
        return {"action": "decline"}
    return {"action": said.specific.get("action"), "content": said.specific.get("content")}


def _display(said: Said) -> Mapping[str, Any]:
    return {"display_content": said.specific.get("displayContent")}


_OUTCOMES: Final[Mapping[str, tuple[str, Build]]] = {
    "PreToolUse": ("PreToolUseOutcome", _verdict),
    "PreSkillShellCommand": ("PreToolUseOutcome", _verdict),
    "PermissionRequest": ("PermissionRequestOutcome", _request),
    "PermissionDenied": ("PermissionDeniedOutcome", _retry),
    "PostToolUse": ("PostToolUseOutcome", _feedback),
    "PostToolUseFailure": ("BlockOutcome", _block),
    "PostToolBatch": ("BlockOutcome", _block),
    "UserPromptSubmit": ("UserPromptSubmitOutcome", _prompt),
    "UserPromptExpansion": ("UserPromptSubmitOutcome", _prompt),
    "SessionStart": ("SessionStartOutcome", _start),
    "Stop": ("BlockOutcome", _keep_going),
    "SubagentStop": ("BlockOutcome", _keep_going),
    "TaskCreated": ("BlockOutcome", _block),
    "TaskCompleted": ("BlockOutcome", _complete),
    "TeammateIdle": ("BlockOutcome", _complete),
    "PreCompact": ("BlockOutcome", _block),
    "ConfigChange": ("BlockOutcome", _block),
    "PreModelSwitch": ("BlockOutcome", _model_switch),
    "BeforeModel": ("BeforeModelOutcome", _block),
    "WorktreeCreate": ("WorktreeOutcome", _worktree),
    "CwdChanged": ("WatchOutcome", _watch),
    "FileChanged": ("WatchOutcome", _watch),
    "Elicitation": ("ElicitationOutcome", _elicit),
    "ElicitationResult": ("ElicitationOutcome", _elicit),
    "MessageDisplay": ("MessageDisplayOutcome", _display),
}
