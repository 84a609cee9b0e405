"""Decides on cases with the plugins that are on; nothing is run and nothing is kept."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from toolpost import Allow, Ask, Deny, InvalidInput, PermissionRequest, PermissionScope, Rule, SettingsError
from toolpost_core.cli.explain import hooks
from toolpost_core.cli.explain.case import Case
from toolpost_core.cli.explain.startup import TOOL, at_startup
from toolpost_core.cli.workspace import Workspace
from toolpost_core.permissions.combine import Opinion, Verdict
from toolpost_core.permissions.record import as_json
from toolpost_core.session.confining import usable_sandbox
from toolpost_core.session.engine import gate, tool_pool
from toolpost_core.settings import Settings, load
from toolpost_core.tools.permit import Circumstances, Permitter

if TYPE_CHECKING:
    from toolpost import PermissionMode, Tool
    from toolpost.events.tool import PreToolUseOutcome
    from toolpost.permissions import Behavior, RuleSource


class Explainer:
    """Made once for many cases: plugins are loaded once, settings are read for each case."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        options: Mapping[str, Any] = {"tools": None, "interactive": False}
        # Without deny rules: a denied tool must be found, to say which rule denies it.
        self._pool = tool_pool(workspace.registry, (), None, options, lambda _: None)
        self._gate = gate(workspace.registry)
        self._permitter = Permitter(self._gate, self._pool)

    async def explain(self, case: Case) -> dict[str, Any]:
        """Return the decision as `permissions explain --json` prints it. Raises SettingsError, OSError."""
        if case.tool == TOOL:
            return at_startup(case)
        settings = self._settings(case)
        around = self._around(case, settings)
        try:
            verdict = await self._decide(case, settings, around)
        except InvalidInput as error:
            verdict = Verdict("deny", f"the input does not fit: {error}", "deny")
        return as_json(verdict)

    def _settings(self, case: Case) -> Settings:
        places, options = self._workspace.places, self._workspace.options
        return load(
            case.cwd.resolve(),
            case.home or places.home,
            case.home / ".toolpost" if case.home else places.config_dir,
            flag=json.dumps(case.settings) if case.settings else options.settings,
            cli={"permissions": {"allow": list(options.allowed_tools), "deny": list(options.disallowed_tools)}},
            sources=options.setting_sources,
            trusted=case.trusted,
            extra_documents=case.documents,
            env=os.environ,
        )

    def _around(self, case: Case, settings: Settings) -> Circumstances:
        project = case.cwd.resolve()
        extra = [Path(folder) for folder in settings.get("permissions.additionalDirectories", ())]
        folders = (project, *((project / folder).resolve() for folder in (*case.directories, *extra)))
        scope = PermissionScope(
            cwd=project,
            home=(case.home or self._workspace.places.home).resolve(),
            project=project,
            directories=tuple(dict.fromkeys(folders)),
            config_dir=case.home / ".toolpost" if case.home else self._workspace.places.config_dir,
            mode=_mode(case, settings),
            interactive=case.interactive,
            trusted=case.trusted,
            sandbox=case.sandbox or (settings.get("sandbox") if self._sandbox_in_force(settings) else None),
        )
        given = _session_rules(case, project)
        counted = (rule for rule in given if rule.behavior != "allow" or not settings.only_policy_allows)
        rules = (*settings.rules, *counted)
        return Circumstances(scope, rules, case.agent_type, (case.skill or {}).get("name"))

    def _sandbox_in_force(self, settings: Settings) -> bool:
        return bool(settings.get("sandbox.enabled")) and self._sandbox_works

    @cached_property
    def _sandbox_works(self) -> bool:
        return usable_sandbox(self._workspace.registry, self._workspace.settings)[0] is not None

    async def _decide(self, case: Case, settings: Settings, around: Circumstances) -> Verdict:
        answers = hooks.counted(case.hooks, settings, trusted=case.trusted)
        hook = hooks.before_use(answers, interactive=case.interactive)
        entry = self._pool.find(case.tool)
        if entry is None:
            return await self._unknown(case, around, hook)
        candidate = self._permitter.read(entry.tool, case.input)
        ruling = await self._permitter.rule(entry.tool, candidate, around, hook=hook)
        asked = hooks.on_request(answers)
        return ruling.verdict if asked is None else await self._answered(entry.tool, around, asked, ruling.verdict)

    async def _answered(
        self, tool: Tool[Any], around: Circumstances, asked: PreToolUseOutcome, verdict: Verdict
    ) -> Verdict:
        """The answer of a PermissionRequest hook: it settles an ask, and an input that it rewrote meets the rules."""
        if asked.updated_input is not None:
            again = (await self._permitter.rule(tool, self._permitter.read(tool, asked.updated_input), around)).verdict
            if again.wanted == "deny":
                return again
        if verdict.wanted == "ask" and (asked.decision == "allow" or asked.decision == "deny"):
            reason = asked.reason or f"a PermissionRequest hook said {asked.decision}"
            return replace(verdict, behavior=asked.decision, wanted=asked.decision, reason=reason)
        return verdict

    async def _unknown(self, case: Case, around: Circumstances, hook: PreToolUseOutcome | None) -> Verdict:
        """Decide on a tool that is not here, such as one of an MCP server: by its name and rules alone."""
        opinions = []
        if hook is not None and hook.decision is not None:
            made = {"allow": Allow, "ask": Ask, "deny": Deny, "defer": Ask}[hook.decision]
            opinions.append(Opinion("PreToolUse hook", "hook", made(hook.reason)))
        own = Ask("its server wants a person to answer") if case.mcp.get("requiresUserInteraction") else None
        path = case.input.get("file_path") or case.input.get("notebook_path") or case.input.get("path")
        request = PermissionRequest(
            tool_name=case.tool,
            tool_input=case.input,
            scope=around.scope,
            rules=around.rules,
            path=path if isinstance(path, str) else None,
            agent_type=around.agent_type,
            skill=around.skill,
        )
        return await self._gate.decide(request, own, opinions)


def _mode(case: Case, settings: Settings) -> PermissionMode:
    wanted = None if case.mode in (None, "default", "manual") else case.mode
    try:
        return settings.permission_mode(wanted)
    except SettingsError:
        return "default"


def _session_rules(case: Case, project: Path) -> list[Rule]:
    """Rules given in the session; what a skill brings counts as such, but from a repository only once that is trusted."""
    given = list(case.session_rules)
    skill = case.skill or {}
    if skill.get("allowed-tools") and case.tool != "Skill" and (case.trusted or skill.get("source") != "project"):
        given.append(("command", {"allow": skill["allowed-tools"]}))
    return [
        Rule.parse(text, cast("Behavior", behavior), cast("RuleSource", source), root=project)
        for source, rules in given
        for behavior, texts in rules.items()
        for text in texts
        if isinstance(text, str)
    ]
