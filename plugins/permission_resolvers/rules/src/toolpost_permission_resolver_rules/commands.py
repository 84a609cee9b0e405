"""Rules for calls that are made of parts, such as a shell line: the strictest answer of any part is the call's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

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
    Rule,
)

from .index import Shelf, folded
from .paths import Spellings, are_inside, covers, names_in, names_like, spellings
from .protected import critical, protected
from .trees import Tree, below, tree_of

_STRICTNESS: Final[dict[Behavior, int]] = {"allow": 0, "ask": 1, "deny": 2}
_STRICT: Final[tuple[Behavior, ...]] = ("deny", "ask")
_READ: Final = frozenset({"Read"})
FILE_TOOLS: Final = frozenset({"Read", "Edit", "Write"})
"""The tools whose rules for files hold for what commands read and write."""


def judge_commands(
    request: PermissionRequest, about: Shelf, files: Shelf, matcher: PermissionMatcher
) -> Decision | None:
    """Answer for all parts together; None where a part has neither a rule nor a reason to be let through.

    `about` are the rules about the tool, `files` those with a specifier that may be a path.
    """
    judge = _Judge(request, about, files, matcher)
    verdicts = [judge.verdict(part) for part in matcher.parts]
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
    restrained = any(shelf.has(behavior) for shelf in (about, files) for behavior in _STRICT)
    if restrained and matcher.doubt:
        return Ask(f"The command can't be checked against the rules: {matcher.doubt}", parts=parts)
    if strictest is None or any(verdict is None for verdict in verdicts) or matcher.doubt:
        return None
    rule = next((verdict.rule for verdict in given if verdict.rule is not None), None)
    return Allow("every part is covered: " + strictest.reason, rule=rule, parts=parts)


class _Hit(NamedTuple):
    """A rule that covers a file, or may cover something in a folder that is too big to look through."""

    rule: Rule
    file: Path
    sure: bool = True

    def __str__(self) -> str:
        if self.sure:
            return f"{self.rule} covers {self.file}"
        return f"too much lies below {self.file.parent} to see whether {self.rule} covers any of it"


class _Judge:
    """Holds the rules against one part after another."""

    def __init__(self, request: PermissionRequest, about: Shelf, files: Shelf, matcher: PermissionMatcher) -> None:
        self._request, self._scope = request, request.scope
        self._about, self._files, self._matcher = about, files, matcher
        self._whole = next((rule for rule in about.all if rule.behavior == "allow" and rule.specifier is None), None)
        self._spelled: dict[Path, Spellings] = {}

    def verdict(self, part: CommandPart) -> PartVerdict | None:
        """The strictest that the rules say of a part; None where they say nothing and it is not known to be harmless."""
        rules = self._about.near(part.heads)
        if rule := self._matching(part, rules, "deny", "deny"):
            return PartVerdict(part.text, "deny", rule, f"{rule} denies it")
        for behavior in _STRICT:
            if hit := self._hit(part, behavior):
                return PartVerdict(part.text, behavior if hit.sure else "ask", hit.rule, str(hit))
            if rule := self._matching(part, rules, behavior, "ask"):
                hidden = "may be what this runs" if behavior == "deny" else "asks about it"
                return PartVerdict(part.text, "ask", rule, f"{rule} {hidden}")
        if rule := self._missed(part):
            reason = f"which files it opens is only known once it runs, and {rule} says {rule.behavior} of some"
            return PartVerdict(part.text, "ask", rule, reason)
        if hit := self._suspected(part):
            return PartVerdict(part.text, "ask", hit.rule, f"it may open files that a rule forbids: {hit}")
        for path in part.writes:
            if critical(path, self._scope):
                return PartVerdict(part.text, "ask", None, f"it would change {path} as a whole")
            if reason := protected(path, self._scope):
                return PartVerdict(part.text, "ask", None, reason)
        rule = self._whole or self._matching(part, rules, "allow", "allow")
        if rule is not None:
            return PartVerdict(part.text, "allow", rule, f"{rule} allows it")
        return self._without_rule(part)

    def _matching(self, part: CommandPart, rules: Sequence[Rule], behavior: Behavior, way: Behavior) -> Rule | None:
        """The first rule of a behavior that covers the part, held against it in the way of another."""
        matches = self._matcher.matches
        return next(
            (r for r in rules if r.behavior == behavior and r.specifier and matches(part, r.specifier, way)), None
        )

    def _hit(self, part: CommandPart, behavior: Behavior) -> _Hit | None:
        """The first rule for paths that covers a file of the part."""
        if not self._files.has(behavior):
            return None
        hits = (self._first(part.writes, behavior, FILE_TOOLS), self._first(part.reads, behavior, _READ))
        return next((hit for hit in hits if hit is not None and hit.sure), hits[0] or hits[1])

    def _first(self, files: Sequence[Path], behavior: Behavior, tools: frozenset[str]) -> _Hit | None:
        """The first of these tools' rules for paths that covers one of the files, or else that may."""
        unsure: _Hit | None = None
        for file in files:
            tree = tree_of(file)
            entries = iter((self._spell(file),)) if tree is None else below(tree, self._mattering(tree))
            if entries is None:
                unseen = (rule for rule in self._files.all if rule.behavior == behavior and rule.tool in tools)
                unsure = unsure or next((_Hit(rule, file, sure=False) for rule in unseen), None)
                continue
            for places in entries:
                if rule := self._covering(places, behavior, tools):
                    return _Hit(rule, places[0])
        return unsure

    def _mattering(self, tree: Tree) -> Callable[[str], bool]:
        """What tells whether a rule may cover what has a name, below a folder: most of what lies there needs no more."""
        words, likes = self._files.words, [names_like(rule.specifier or "") for rule in self._files.open]
        above = names_in(self._spell(tree.folder), self._scope)
        if None in likes or not above.isdisjoint(words):
            return lambda _: True
        return lambda name: folded(name) in words or any(like(name) for like in likes if like is not None)

    def _missed(self, part: CommandPart) -> Rule | None:
        """The first rule for files that the part may be held back by, were it known which files it opens.

        Where commands run in a sandbox, that keeps what is denied from all of them.
        """
        if not part.unseen:
            return None
        tools = {"Read"} if part.unseen == {"reads"} else {"Edit", "Write"} if part.unseen == {"writes"} else FILE_TOOLS
        behaviors = self._unenforced()
        return next((rule for rule in self._files.all if rule.behavior in behaviors and rule.tool in tools), None)

    def _suspected(self, part: CommandPart) -> _Hit | None:
        """The first rule for paths that forbids a file which the part may open."""
        behaviors = [behavior for behavior in self._unenforced() if self._files.has(behavior)] if part.perhaps else ()
        hits = (self._first(part.perhaps, behavior, FILE_TOOLS) for behavior in behaviors)
        return next(filter(None, hits), None)

    def _unenforced(self) -> Sequence[Behavior]:
        """What rules about files say that nobody but this resolver sees to."""
        confined = self._scope.sandbox is not None and not self._scope.sandbox.get("excludedCommands")
        return ("ask",) if confined else _STRICT

    def _without_rule(self, part: CommandPart) -> PartVerdict | None:
        """Let through what only touches files that the path rules leave free."""
        if part.doubt or not (part.read_only or part.writes):
            return None
        for path in part.reads:
            if not self._is_inside(path) and not self._covering(
                self._spell(path), "allow", frozenset({"Read", "Edit"})
            ):
                return None
        for path in part.writes:
            in_mode = self._request.mode == "acceptEdits" and self._is_inside(path)
            if not in_mode and not self._covering(self._spell(path), "allow", frozenset({"Edit"})):
                return None
        reason = "it only touches files that it may" if part.writes else "it only reads"
        return PartVerdict(part.text, "allow", None, reason)

    def _covering(self, places: Spellings, behavior: Behavior, tools: frozenset[str]) -> Rule | None:
        near = self._files.near(names_in(places, self._scope)) if self._files.has(behavior) else ()
        held = (rule for rule in near if rule.behavior == behavior and rule.tool in tools)
        return next((rule for rule in held if covers(rule, places, self._scope)), None)

    def _is_inside(self, path: Path) -> bool:
        tree = tree_of(path)
        return are_inside(self._spell(path if tree is None else tree.folder), self._scope)

    def _spell(self, path: Path) -> Spellings:
        if path not in self._spelled:
            self._spelled[path] = spellings(path)
        return self._spelled[path]
