"""Matchers and conditions of configured hooks that name no tool of the session, and nearly name one."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

TOOL_EVENTS: Final = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied")
_NAMES: Final = re.compile(r"[\w\- ,|]+")


def odd_matchers(hooks: Mapping[str, Any], tools: Sequence[str]) -> Iterator[str]:
    """Yield a text for each matcher of names, and each `if`, that nearly names a tool; others may be for elsewhere."""
    for event in TOOL_EVENTS:
        for number, group in enumerate(hooks.get(event) or ()):
            where = f"settings: hooks.{event}[{number}]"
            if near := _meant(_names_in(group), tools):
                yield (
                    f"{where}.matcher {group['matcher']!r} names no tool of this session, so that its hooks never run. "
                    f"Did you mean {near}?"
                )
            for place, condition in _conditions_in(group):
                if near := _meant([condition.partition("(")[0].strip()], tools):
                    yield (
                        f"{where}.hooks[{place}].if {condition!r} names no tool of this session, so that the hook never "
                        f"runs. Did you mean {near}?"
                    )


def _meant(names: Sequence[str], tools: Sequence[str]) -> str:
    """Return the tools that were meant perhaps; empty where one of the names is a tool's, and where none is nearly one."""
    if set(names) & set(tools) or any(name.startswith("mcp__") for name in names):
        return ""
    by_lower = {name.lower(): name for name in tools}
    near = [by_lower[low] for name in names for low in get_close_matches(name.lower(), by_lower, 1, 0.6)]
    return " or ".join(map(repr, dict.fromkeys(near)))


def _conditions_in(group: Any) -> Iterator[tuple[int, str]]:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    for place, hook in enumerate(hooks if isinstance(hooks, list | tuple) else ()):
        if isinstance(hook, dict) and isinstance(hook.get("if"), str):
            yield place, hook["if"]


def _names_in(group: Any) -> list[str]:
    matcher = group.get("matcher") if isinstance(group, dict) else None
    if not isinstance(matcher, str) or not _NAMES.fullmatch(matcher):
        return []
    return [name for name in map(str.strip, re.split(r"[|,]", matcher)) if name]
