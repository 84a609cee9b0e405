"""Hooks' answers as a case gives them: what they come to together."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from toolpost import on
from toolpost.events.tool import PreToolUseOutcome

if TYPE_CHECKING:
    from toolpost.events.tool import Verdict
    from toolpost_core.settings import Settings

DECISIONS: Final[Mapping[str, Verdict]] = {"allow": "allow", "ask": "ask", "deny": "deny", "defer": "defer"}


def counted(hooks: Sequence[Mapping[str, Any]], settings: Settings, *, trusted: bool) -> list[Mapping[str, Any]]:
    """Return the hooks that count: not a repository's before it is trusted, and only policy's where settings say so."""
    if settings.get("disableAllHooks") and settings.provenance("disableAllHooks")[0][0] == "managed":
        return []
    only_policy = bool(settings.get("disableAllHooks") or settings.get("allowManagedHooksOnly"))
    return [
        hook
        for hook in hooks
        if not (hook.get("source") == "project" and not trusted)
        and not (only_policy and hook.get("source") != "managed")
    ]


def before_use(hooks: Sequence[Mapping[str, Any]], *, interactive: bool) -> PreToolUseOutcome | None:
    """Merge the answers of PreToolUse hooks."""
    outcomes = [_outcome(hook, interactive) for hook in hooks if hook.get("event", "PreToolUse") == "PreToolUse"]
    return on.pre_tool_use.merge(outcomes) if outcomes else None


def on_request(hooks: Sequence[Mapping[str, Any]]) -> PreToolUseOutcome | None:
    """Merge the answers of PermissionRequest hooks, which are asked where a person would be."""
    outcomes = [_outcome(hook, True) for hook in hooks if hook.get("event") == "PermissionRequest"]
    return on.pre_tool_use.merge(outcomes) if outcomes else None


def _outcome(hook: Mapping[str, Any], interactive: bool) -> PreToolUseOutcome:
    """Read one answer (compat.md 2.3): exit 2 blocks whatever was written; what is no decision is none."""
    said = {**_written(hook.get("stdout")), **hook}
    reason = str(said.get("permissionDecisionReason") or said.get("stderr") or "")
    if hook.get("exitCode") == 2:
        return PreToolUseOutcome(decision="deny", reason=reason or "a hook blocked it (exit code 2)")
    if hook.get("timeout"):
        return PreToolUseOutcome()
    decision, updated = said.get("permissionDecision"), said.get("updatedInput")
    known = DECISIONS.get(decision) if isinstance(decision, str) else None
    return PreToolUseOutcome(
        decision=None if known == "defer" and interactive else known,
        reason=reason,
        updated_input=updated if isinstance(updated, dict) else None,
    )


def _written(output: object) -> Mapping[str, Any]:
    """The hook-specific part of what a hook wrote; empty where that is no JSON object."""
    if not isinstance(output, str) or not output.lstrip().startswith("{"):
        return {}
    try:
        found = json.loads(output)
    except ValueError:
        return {}
    specific = found.get("hookSpecificOutput", found)
    return specific if isinstance(specific, dict) else {}
