"""Permission modes: what a mode adds to the rules, each a small pure function."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from toolpost.permissions import (
    Allow,
    Ask,
    CommandPart,
    Decision,
    PermissionMode,
    PermissionRequest,
    PermissionResolver,
)

__all__ = ["Modes"]

_EDITORS = frozenset({"Edit", "Write", "NotebookEdit"})


class Modes(PermissionResolver):
    """Answers from the permission mode alone; deny and ask of rules, hooks and tools stand above it."""

    async def resolve(self, request: PermissionRequest) -> Decision | None:
        """Call the function of the mode that is in force."""
        return MODES[request.mode](request)


def default(request: PermissionRequest) -> Decision | None:
    """Nothing of its own: what no rule covers is asked about."""
    del request
    return None


def plan(request: PermissionRequest) -> Decision | None:
    """Ask before anything that changes something, whatever the rules allow; a command may run that a rule names."""
    if request.read_only or request.tool_name == "ExitPlanMode":
        return None
    matcher = request.matcher
    acts = matcher is not None and any(
        part.writes or not (part.read_only or _named(part, request)) for part in matcher.parts
    )
    if acts or request.tool_name in _EDITORS or request.tool_name.startswith("mcp__"):
        return Ask("plan mode is for looking and planning; leave it before anything is changed")
    return None


def _named(part: CommandPart, request: PermissionRequest) -> bool:
    """Whether a rule allows the part by more than the tool's name."""
    matches = request.matcher.matches if request.matcher is not None else None
    rules = (rule for rule in request.rules if rule.behavior == "allow" and rule.tool == request.tool_name)
    return matches is not None and any(rule.specifier and matches(part, rule.specifier, "allow") for rule in rules)


def accept_edits(request: PermissionRequest) -> Decision | None:
    """Let files inside the working directories be edited; for shell commands the rules resolver does so by part."""
    path = request.path
    if request.tool_name not in _EDITORS or path is None or "\0" in path or len(path) > 4096:
        return None
    if path.startswith("~") and not path.startswith("~/"):
        return None
    base = request.scope.home if path.startswith("~/") else request.scope.cwd
    if _is_inside(Path(os.path.join(base, path.removeprefix("~/"))), request):  # noqa: PTH118 - links before `..`
        return Allow(f"{request.mode} mode lets files inside the working directories be edited")
    return None


def dont_ask(request: PermissionRequest) -> Decision | None:
    """Nothing of its own: core turns what would be asked into a deny."""
    del request
    return None


def auto(request: PermissionRequest) -> Decision | None:
    """Let files inside the working directories be edited; a classifier answers for what is left open."""
    return accept_edits(request)


def bypass_permissions(request: PermissionRequest) -> Decision | None:
    """Let everything through that no deny or ask rule, hook or critical place holds back."""
    del request
    return Allow("bypassPermissions mode is on")


MODES: Final[dict[PermissionMode, Callable[[PermissionRequest], Decision | None]]] = {
    "default": default,
    "plan": plan,
    "acceptEdits": accept_edits,
    "dontAsk": dont_ask,
    "auto": auto,
    "bypassPermissions": bypass_permissions,
}


def _is_inside(path: Path, request: PermissionRequest) -> bool:
    """Whether both a link and its target lie in the working directories."""
    folders = request.scope.directories or (request.scope.project,)
    try:
        real = request.real_path or Path(os.path.realpath(path))
        places = (Path(os.path.realpath(path.parent)) / path.name, real)
    except (OSError, ValueError):
        return False
    return all(any(place.is_relative_to(folder) for folder in folders) for place in places)
