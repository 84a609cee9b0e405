"""Rules for calls that are made of parts, such as a shell line: the strictest answer of any part is the call's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from toolpost.permissions import (
    Allow,
    Ask,
    Behavior,
    CommandPart,
    Decision,
    Deny,
    PartVerdict,
    PermissionMatcher,
    PermissionRequest,
    PermissionScope,
    Rule,
)

from .paths import below, is_inside, rule_covers
from .protected import critical, protected

_STRICTNESS: dict[Behavior, int] = {"allow": 0, "ask": 1, "deny": 2}


def judge_commands(request: PermissionRequest, about: Sequence[Rule], matcher: PermissionMatcher) -> Decision | None:
    """Answer for all parts together; None where a part has neither a rule nor a reason to be let through."""
    whole = next((rule for rule in about if rule.behavior == "allow" and rule.specifier is None), None)
    scoped = [rule for rule in about if rule.specifier is not None]
    paths = [rule for rule in request.rules if rule.specifier is not None and rule.tool in ("Read", "Edit", "Write")]
    verdicts = [_verdict(part, request, scoped, paths, whole, matcher) for part in matcher.parts]
    given = [verdict for verdict in verdicts if verdict is not None]
    strictest = max(given, key=lambda verdict: _STRICTNESS[verdict.behavior], default=None)
    parts = tuple(
        verdict or PartVerdict(part.text, "ask", reason=part.doubt or "no rule covers it")
        for part, verdict in zip(matcher.parts, verdicts, strict=True)
    )
    if strictest is not None and strictest.behavior != "allow":
        kind = Deny if strictest.behavior == "deny" else Ask
        return kind(f"{strictest.part}: {strictest.reason}", rule=strictest.rule, parts=parts)
    # Reading a line twice takes longest, so whether it is in doubt is asked only where that matters.
    if any(rule.behavior != "allow" for rule in (*scoped, *paths)) and matcher.doubt:
        return Ask(f"The command can't be checked against the rules: {matcher.doubt}", parts=parts)
    if strictest is None or any(verdict is None for verdict in verdicts) or matcher.doubt:
        return None
    rule = next((verdict.rule for verdict in given if verdict.rule is not None), None)
    return Allow("every part is covered: " + strictest.reason, rule=rule, parts=parts)


def _verdict(
    part: CommandPart,
    request: PermissionRequest,
    scoped: Sequence[Rule],
    paths: Sequence[Rule],
    whole: Rule | None,
    matcher: PermissionMatcher,
) -> PartVerdict | None:
    scope = request.scope
    for rule in scoped:
        if rule.behavior == "deny" and matcher.matches(part, rule.specifier or "", "deny"):
            return PartVerdict(part.text, "deny", rule, f"{rule} denies it")
    for behavior in ("deny", "ask"):
        for rule in paths:
            if rule.behavior == behavior and (file := _hit(rule, part, scope)):
                return PartVerdict(part.text, rule.behavior, rule, f"{rule} covers {file}")
        for rule in scoped:
            if rule.behavior == behavior and matcher.matches(part, rule.specifier or "", "ask"):
                hidden = "may be what this runs" if behavior == "deny" else "asks about it"
                return PartVerdict(part.text, "ask", rule, f"{rule} {hidden}")
    for path in part.writes:
        if critical(path, scope):
            return PartVerdict(part.text, "ask", None, f"it would change {path} as a whole")
        if reason := protected(path, scope):
            return PartVerdict(part.text, "ask", None, reason)
    if whole is not None:
        return PartVerdict(part.text, "allow", whole, f"{whole} allows it")
    for rule in scoped:
        if rule.behavior == "allow" and matcher.matches(part, rule.specifier or "", "allow"):
            return PartVerdict(part.text, "allow", rule, f"{rule} allows it")
    return _without_rule(part, request, paths)


def _without_rule(part: CommandPart, request: PermissionRequest, paths: Sequence[Rule]) -> PartVerdict | None:
    """Let through what only touches files that the path rules leave free."""
    if part.doubt or not (part.read_only or part.writes):
        return None
    scope = request.scope
    edits = [rule for rule in paths if rule.behavior == "allow" and rule.tool == "Edit"]
    reads = [rule for rule in paths if rule.behavior == "allow" and rule.tool in ("Read", "Edit")]
    for path in part.reads:
        if not is_inside(_top(path), scope) and not any(rule_covers(rule, path, scope) for rule in reads):
            return None
    for path in part.writes:
        in_mode = request.mode == "acceptEdits" and is_inside(_top(path), scope)
        if not in_mode and not any(rule_covers(rule, path, scope) for rule in edits):
            return None
    return PartVerdict(
        part.text, "allow", None, "it only touches files that it may" if part.writes else "it only reads"
    )


def _hit(rule: Rule, part: CommandPart, scope: PermissionScope) -> Path | None:
    """The first file of the part that a deny or ask rule for paths covers."""
    files: Iterator[Path] = iter(part.writes)
    if rule.tool == "Read":
        files = iter((*part.reads, *part.writes))
    for file in files:
        if file.name != "**":
            if rule_covers(rule, file, scope):
                return file
            continue
        entries = below(file)
        if entries is None:
            return file
        if found := next((entry for entry in entries if rule_covers(rule, entry, scope)), None):
            return found
    return None


def _top(path: Path) -> Path:
    return path.parent if path.name == "**" else path
