"""Matchers: which events of a kind a group of hooks is for (compat.md 2.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from toolpost_lifecycle_settings_hooks.patterns import LONGEST, endless

SUBJECTS = {
    "PreToolUse": "tool_name",
    "PostToolUse": "tool_name",
    "PostToolUseFailure": "tool_name",
    "PermissionRequest": "tool_name",
    "PermissionDenied": "tool_name",
    "PreSkillShellCommand": "tool_name",
    "UserPromptExpansion": "command_name",
    "SessionStart": "source",
    "Setup": "trigger",
    "SessionEnd": "reason",
    "InstructionsLoaded": "load_reason",
    "StopFailure": "error",
    "SubagentStart": "agent_type",
    "SubagentStop": "agent_type",
    "Notification": "notification_type",
    "PreCompact": "trigger",
    "PostCompact": "trigger",
    "ConfigChange": "source",
    "DirectoryAdded": "source",
    "FileChanged": "file_path",
    "Elicitation": "mcp_server_name",
    "ElicitationResult": "mcp_server_name",
}
"""The field that matchers run on; at other events a matcher is passed over."""

_NAMES = re.compile(r"[A-Za-z0-9_\- ,|]+")
_FEWER_NAMES = re.compile(r"[A-Za-z0-9_|]+")
_SERVER = re.compile(r"mcp__(?:(?!__).)+")
_RULE = re.compile(r"(\w+)\(.*\)", re.DOTALL)
_JAVASCRIPT_GROUP = re.compile(r"\(\?<(?=[A-Za-z_$])")


class MatcherError(ValueError):
    """Raised when a matcher can't be used; reads as the end of a sentence about it."""


@dataclass(frozen=True)
class Matcher:
    """Takes everything, exact names, or what a pattern is found in."""

    names: frozenset[str] | None = None
    pattern: re.Pattern[str] | None = None
    text: str = ""

    @classmethod
    def parse(cls, text: Any, event: str) -> Matcher:
        """Read a matcher. Raises MatcherError."""
        if text is None or text in ("", "*") or event not in SUBJECTS:
            return cls()
        if not isinstance(text, str):
            raise MatcherError(f"must be a text, not {text!r}")
        if event == "FileChanged":
            return cls(names=_split(text, "|"), text=text)
        if (_FEWER_NAMES if event == "StopFailure" else _NAMES).fullmatch(text):
            return cls(names=_split(text, "|,"), text=text)
        if why := endless(text):
            raise MatcherError(f"{text!r} {why}, so that looking for it might never end; say it more simply")
        try:
            return cls(pattern=re.compile(_JAVASCRIPT_GROUP.sub("(?P<", text)), text=text)
        except (re.error, RecursionError) as error:
            rule = '; a permission rule belongs into the hook\'s "if"' if _RULE.fullmatch(text) else ""
            raise MatcherError(f"{text!r} is neither names nor a regular expression ({error}){rule}") from error

    def takes(self, subject: str) -> bool:
        """Whether an event with this subject is meant."""
        if self.names is not None:
            return subject in self.names
        return self.pattern is None or self.pattern.search(subject[:LONGEST]) is not None


def never_matches(matcher: Matcher, event: str) -> str:
    """Say why a matcher takes no event whatever comes, with what was meant perhaps; empty where one may come."""
    if not matcher.names:
        return _why_no_rule(matcher, event)
    if SUBJECTS.get(event) == "tool_name" and all(_SERVER.fullmatch(name) for name in matcher.names):
        server = min(matcher.names)
        return f"is the name of a server, and a tool's is longer: {server}__.* takes all its tools"
    allowed = _words(event)
    if not allowed or matcher.names & set(allowed):
        return ""
    from difflib import get_close_matches

    close = get_close_matches(min(matcher.names), allowed, n=1)
    return f"is no {SUBJECTS[event]}" + (f"; did you mean {close[0]!r}?" if close else f"; it is {', '.join(allowed)}")


def _why_no_rule(matcher: Matcher, event: str) -> str:
    """Say what is wrong with a permission rule in a matcher's place."""
    rule = _RULE.fullmatch(matcher.text) if SUBJECTS.get(event) == "tool_name" else None
    if rule is None or matcher.takes(rule[1]):
        return ""
    return (
        f'is read as a regular expression, which {rule[1]} does not fit; a rule like this belongs into the hook\'s "if"'
    )


def _words(event: str) -> tuple[str, ...]:
    """The only values that the field has which matchers of an event run on; nothing where it may have others."""
    import typing

    from toolpost import on
    from toolpost_lifecycle_settings_hooks.config import TITLES

    given = typing.get_type_hints(getattr(on, TITLES[event]).spec)["event"]
    hint = typing.get_type_hints(given).get(SUBJECTS.get(event, ""))
    return typing.get_args(hint) if typing.get_origin(hint) is typing.Literal else ()


def subject_of(event: str, value: Any) -> str:
    """Return what matchers of an event run on."""
    field = SUBJECTS.get(event)
    if field is None:
        return ""
    subject = getattr(value, field)
    return PurePath(subject).name if event == "FileChanged" else str(subject)


def _split(text: str, separators: str) -> frozenset[str]:
    names = re.split(f"[{separators}]", text)
    return frozenset(name.strip() for name in names if name.strip())
