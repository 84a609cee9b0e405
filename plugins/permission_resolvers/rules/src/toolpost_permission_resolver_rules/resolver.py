"""The resolver: the strictest rule that covers a call, with its source."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from toolpost.permissions import (
    Allow,
    Ask,
    Decision,
    Deny,
    PermissionRequest,
    PermissionResolver,
    PermissionScope,
    Rule,
)

from .commands import FILE_TOOLS, judge_commands
from .index import About, Index, index_of
from .names import EDITORS, READERS, parameter_matches
from .paths import ANY_NAME, absolute, covers, is_inside, names_in, spellings
from .protected import is_memory, protected
from .web import host_is_clear, host_matches
from .withheld import Withheld

_FOR_A_PERSON = frozenset({"AskUserQuestion", "ExitPlanMode"})


class Rules(PermissionResolver):
    """Holds the rules of all sources against a call: deny, then ask, then allow; None where no rule speaks.

    Reads inside the working directories and commands that only read there need no rule. Protected places are asked
    about whatever the rules say.
    """

    enforces_rules = True

    async def resolve(self, request: PermissionRequest) -> Decision | None:
        """Answer from the rules alone; nothing is started and nothing is read but directory entries."""
        index, old = index_of(request.rules), tuple(request.tool.aliases) if request.tool is not None else ()
        about = index.about(request.tool_name, old)
        held = [
            rule for rule in about.with_parameters(request.tool_input) if parameter_matches(rule, request.tool_input)
        ]
        for behavior in ("deny", "ask"):
            for rule in (*about.whole, *held):
                if rule.behavior == behavior:
                    return _opinion(rule, f"{rule} covers {'it' if rule.specifier else 'the whole tool'}")
        if request.tool_name in _FOR_A_PERSON:
            return Ask(f"{request.tool_name} is a question to the person")
        if request.matcher is not None:
            return judge_commands(request, about, index.files(FILE_TOOLS), request.matcher)
        if request.path is not None or request.tool_name in READERS:
            return _judge_path(request, index, old)
        for behavior in ("deny", "ask", "allow"):
            for rule in about.all:
                if rule.behavior == behavior and _covers(rule, request):
                    return _opinion(rule, f"{rule} covers it")
            if behavior == "ask" and _is_unclear(about, request):
                return Ask("the rules are about hosts, and which host this URL means is not clear")
        return None

    def withholds(self, request: PermissionRequest) -> Callable[[Path], bool] | None:
        """Keep back the files that a rule for reading denies, or asks about although nobody was asked."""
        old = request.tool.aliases if request.tool is not None else ()
        files = index_of(request.rules).files(frozenset({request.tool_name, "Read", *old}))
        return Withheld(request, files) if files.has("deny") or files.has("ask") else None


def _is_unclear(about: About, request: PermissionRequest) -> bool:
    """Whether a rule that forbids hosts may be about the call's, which readers of its URL would not agree on."""
    forbids = request.tool_name == "WebFetch" and (about.has("deny") or about.has("ask"))
    return forbids and not host_is_clear(request.tool_input.get("url"))


def _covers(rule: Rule, request: PermissionRequest) -> bool:
    """Whether a rule covers a call that is neither a command nor about a file."""
    specifier = rule.specifier
    if specifier is None:
        return True
    given = request.tool_input
    if request.tool_name == "WebFetch":
        return host_matches(specifier, given.get("url"))
    if request.tool_name == "Agent":
        return specifier == given.get("subagent_type")
    if request.tool_name == "Skill":
        name = str(given.get("skill", ""))
        # However the tool may take a name: what forbids it must not miss it.
        name = name if rule.behavior == "allow" else name.strip().removeprefix("/")
        if specifier.endswith((" *", ":*")):
            return name == specifier[:-2] or name.startswith(specifier[:-2] + " ")
        return name == specifier
    return False


def _judge_path(request: PermissionRequest, index: Index, old: tuple[str, ...]) -> Decision | None:
    scope = request.scope
    edits = request.tool_name in EDITORS or (request.tool_name not in READERS and not request.read_only)
    given = [absolute(text, scope) for text in _paths_of(request)]
    if any(path is None for path in given):
        return Ask("the path is not one that can be judged")
    # Where the first one leads was looked up once, for this decision and for the call.
    real = request.real_path if request.path is not None else None
    paths = [(path, None if number else real) for number, path in enumerate(given) if path is not None]
    spelled = [spellings(path, real) for path, real in paths]
    if request.tool_name == "Grep":
        # What all that lies in a folder is kept from must not be searched there either.
        spelled += [tuple(place / ANY_NAME for place in places) for places in spelled if places[-1].is_dir()]
    tools = frozenset({request.tool_name, *old, "Read", *EDITORS})
    near = index.files(tools).near({name for places in spelled for name in names_in(places, scope)})
    rules = (*index.whole, *near)
    for behavior in ("deny", "ask"):
        for rule in _path_rules(request, rules, behavior, edits=edits):
            if any(covers(rule, places, scope) for places in spelled):
                return _opinion(rule, f"{rule} covers {paths[0][0]}")
    # Whether a memory may be written without a question is up to who keeps them: that it lies there is no reason to ask.
    kept = request.tool_name in EDITORS and all(is_memory(places, scope) for places in spelled)
    if edits and not kept and (reason := _protected(paths, scope)):
        return Ask(reason)
    for rule in _path_rules(request, rules, "allow", edits=edits):
        if rule.specifier is None or all(covers(rule, places, scope) for places in spelled):
            return _opinion(rule, f"{rule} covers it")
    inside = all(is_inside(path, scope, real) or _is_kept_result(path, real, request) for path, real in paths)
    if inside and not edits and not request.open_world:
        return Allow("it only reads inside the working directories")
    return None


def _protected(paths: Sequence[tuple[Path, Path | None]], scope: PermissionScope) -> str:
    return next((found for path, real in paths if (found := protected(path, scope, real))), "")


def _paths_of(request: PermissionRequest) -> Iterator[str]:
    """The files and folders that a call is about; for Glob and Grep also where their pattern leads."""
    base = request.path or "."
    yield base
    pattern = request.tool_input.get("pattern" if request.tool_name == "Glob" else "glob")
    if request.tool_name not in ("Glob", "Grep") or not isinstance(pattern, str):
        return
    parts = Path(pattern).parts
    if pattern.startswith(("/", "~")) or ".." in parts:
        fixed = [part for part in parts if not set(part) & set("*?[{")]
        climbs = parts[: len(parts) - parts[::-1].index("..")] if ".." in parts else ()
        start = "" if pattern.startswith("~") else base
        yield os.path.join(start, *(climbs or fixed))  # noqa: PTH118 - `..` must stay


def _path_rules(request: PermissionRequest, rules: Sequence[Rule], behavior: str, *, edits: bool) -> Iterator[Rule]:
    """The path rules for a read or an edit; what must not be read must not be edited either."""
    tool = request.tool_name
    ours = tool in EDITORS or tool in READERS
    old = request.tool.aliases if request.tool is not None else ()
    for rule in rules:
        if rule.behavior != behavior:
            continue
        if behavior == "allow":
            own = rule.tool == tool and (rule.specifier is None or not ours)
            # Whoever may edit a file may read it; what else another tool does to a file, an Edit rule does not say.
            edit_to_read = not edits and rule.tool == "Edit" and rule.specifier is not None
            edit = edits and rule.tool == "Edit" and ours
            wanted = own or edit or edit_to_read or (not edits and rule.tool == "Read")
        else:
            wanted = rule.tool in ("Read", tool, *old) or (edits and rule.tool in EDITORS)
        if wanted and (rule.specifier is not None or behavior == "allow"):
            yield rule


def _is_kept_result(path: Path, real: Path | None, request: PermissionRequest) -> bool:
    """Whether the path is a result of this session that was moved to a file because of its size."""
    folder = request.scope.results_dir
    return folder is not None and (real or Path(os.path.realpath(path))).is_relative_to(folder)


def _opinion(rule: Rule, reason: str) -> Decision:
    kind = {"deny": Deny, "ask": Ask, "allow": Allow}[rule.behavior]
    where = f"{rule.file}:{rule.line}" if rule.file and rule.line else rule.file or rule.source
    return kind(f"{reason} ({where})", rule=rule)
