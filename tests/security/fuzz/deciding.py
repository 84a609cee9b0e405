"""Decides on generated commands under several sets of rules, with a plain notion of what each set grants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import cast

from tests.security.fuzz.sandbox import Outcome
from tests.security.fuzz.world import World, shows_secret

from toolpost import Rule, Tool
from toolpost.permissions import PermissionMode, PermissionRequest
from toolpost_core.permissions.gate import Gate, Resolver, request_for
from toolpost_permission_resolver_modes import Modes
from toolpost_permission_resolver_rules import Rules
from toolpost_tool_bash import Bash
from toolpost_tool_bash.tool import BashInput

Vector = Sequence[str]
_VALUED = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path")

_PRINT = frozenset({"lsblk", "lscpu", "lsof", "netstat", "pidof", "shasum", "ss", "tree", "vmstat", "zipinfo"})
"""Programs that are known to only read, and that markers stand for, as not every machine has them."""


@dataclass(frozen=True)
class RuleSet:
    """Rules and a mode; `may_start` says which programs they grant, `reads_only` that no file may change.

    With `keeps_secret` the secret must not be shown; `kept` are files of the project, or folders, that must not change, and
    those that are watched must not be read either.
    """

    name: str
    may_start: Callable[[Vector], bool]
    allow: Sequence[str] = ()
    deny: Sequence[str] = ()
    mode: PermissionMode = "default"
    reads_only: bool = False
    keeps_secret: bool = False
    kept: Sequence[str] = ()

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules as settings hold them."""
        allow = [Rule.parse(text, "allow") for text in self.allow]
        return (*allow, *(Rule.parse(text, "deny") for text in self.deny))


def _reads(vector: Vector) -> bool:
    # Git writes itself down, too; whether it only reads shows in the files.
    return vector[0] == "git" or vector[0] in _PRINT or list(vector[1:]) in (["--version"], ["-V"])


def _some(vector: Vector) -> bool:
    return _reads(vector) or vector[0] == "okay" or list(vector[:2]) == ["npm", "test"]


def _removes(vector: Vector) -> bool:
    return _reads(vector) or vector[0] == "rm"


def _anything(_vector: Vector) -> bool:
    return True


def _not_denied(vector: Vector) -> bool:
    return vector[0] not in ("rm", "curl") and not _pushes(vector)


def _pushes(vector: Vector) -> bool:
    at = 1
    while at < len(vector) and vector[at].startswith("-"):
        at += 2 if vector[at] in _VALUED else 1
    return vector[0] == "git" and list(vector[at : at + 1]) == ["push"]


_DENIED = ("Bash(rm:*)", "Bash(curl *)", "Bash(git push:*)")
_FILES = ("Read(.env)", "Read(secrets/**)", "Edit(secrets/**)")
RULE_SETS = (
    RuleSet("no rules", _reads, reads_only=True),
    RuleSet("no rules but for files", _reads, deny=_FILES, reads_only=True, keeps_secret=True),
    RuleSet("some programs", _some, ("Bash(okay:*)", "Bash(npm test *)"), (*_DENIED, *_FILES), reads_only=True,
            keeps_secret=True),
    RuleSet("all of Bash", _not_denied, ("Bash",), _DENIED),
    RuleSet("bypass", _not_denied, (), _DENIED, mode="bypassPermissions"),
    RuleSet("edits", _removes, (), _FILES, mode="acceptEdits", keeps_secret=True),
)  # fmt: skip

_HELD = ("Read(.env)", "Read(secrets/**)", "Read(~/.ssh/**)", "Edit(config/**)")
_KEPT = (".env", "secrets", "config")
FILE_RULE_SETS = (
    RuleSet("all of Bash but for files", _anything, ("Bash",), _HELD, keeps_secret=True, kept=_KEPT),
    RuleSet("bypass but for files", _anything, (), _HELD, mode="bypassPermissions", keeps_secret=True, kept=_KEPT),
)

SAID_TO_READ = RuleSet("the tool says that it only reads", _reads, reads_only=True)
"""What `is_read_only` stands for; it decides which commands may run beside one another."""


class Decider:
    """Decides by the gate with the resolvers that ship; nothing of a command is run."""

    def __init__(self, world: World, rule_sets: Sequence[RuleSet] = RULE_SETS) -> None:
        self._world, self._rule_sets = world, rule_sets
        self._gate = Gate([Resolver("rules", "rules", Rules(), True), Resolver("modes", "modes", Modes(), True)])
        self._tool = Bash()

    async def allowed(self, command: str) -> list[RuleSet]:
        """The sets of rules under which the command would run without a question."""
        given = BashInput(command)
        scope = self._world.scope
        bare = PermissionRequest(tool_name="Bash", tool_input={"command": command}, scope=scope)
        request = request_for(cast("Tool[object]", self._tool), "Bash", bare, given)
        found = []
        for rule_set in self._rule_sets:
            asked = replace(request, rules=rule_set.rules, scope=replace(scope, mode=rule_set.mode))
            if (await self._gate.decide(asked)).behavior == "allow":
                found.append(rule_set)
        return [*found, SAID_TO_READ] if request.read_only else found


def fault(rule_set: RuleSet, outcome: Outcome, world: World) -> str:
    """What an allowed command did that the rules do not grant; empty if nothing."""
    for vector in outcome.started:
        if not rule_set.may_start(vector):
            return f"started {list(vector)[:4]}"
    if rule_set.reads_only and outcome.changed:
        return f"changed {list(outcome.changed)[:3]}"
    if rule_set.mode == "acceptEdits":
        kept = (f"{world.project}/.git/", f"{world.project}/secrets/")
        for path in outcome.changed:
            if not path.startswith(f"{world.project}/") or path.startswith(kept):
                return f"changed {path}"
    if rule_set.keeps_secret and shows_secret(outcome.output):
        return "showed the secret"
    return _fault_with_kept(rule_set, outcome, world) if rule_set.kept else ""


def _fault_with_kept(rule_set: RuleSet, outcome: Outcome, world: World) -> str:
    kept = [world.project / name for name in rule_set.kept]
    for path in map(Path, outcome.changed):
        if any(path.is_relative_to(place) for place in kept):
            return f"changed {path}"
    # Git reads whatever it compares with its index, to say that it is as it was.
    compares = any(vector[0] == "git" for vector in outcome.started)
    return f"read {outcome.opened[0]}" if outcome.opened and not compares else ""
