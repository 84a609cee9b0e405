"""Matchers of configured hooks that name no tool of the session, and nearly name one."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

TOOL_EVENTS: Final = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied")
_NAMES: Final = re.compile(r"[\w\- ,|]+")


def odd_matchers(hooks: Mapping[str, Any], tools: Sequence[str]) -> Iterator[str]:
    """Yield a text for each matcher of names none of which is a tool's; where none is nearly one, it may be elsewhere's."""
    by_lower = {name.lower(): name for name in tools}
    for event in TOOL_EVENTS:
        for number, group in enumerate(hooks.get(event) or ()):
            names = _names_in(group)
            if not names or set(names) & set(tools) or any(name.startswith("mcp__") for name in names):
                continue
            near = [by_lower[low] for name in names for low in get_close_matches(name.lower(), by_lower, 1, 0.6)]
            if near:
                yield (
                    f"settings: hooks.{event}[{number}].matcher {group['matcher']!r} names no tool of this session, so that "
                    f"its hooks never run. Did you mean {' or '.join(map(repr, dict.fromkeys(near)))}?"
                )


def _names_in(group: Any) -> list[str]:
    matcher = group.get("matcher") if isinstance(group, dict) else None
    if not isinstance(matcher, str) or not _NAMES.fullmatch(matcher):
        return []
    return [name for name in map(str.strip, re.split(r"[|,]", matcher)) if name]
