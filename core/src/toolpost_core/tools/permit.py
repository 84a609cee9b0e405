"""The permission step of one call: from the input and what hooks said to a verdict, and to a person's answer."""

from __future__ import annotations

import asyncio
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from toolpost import Allow, Ask, Deny, InvalidInput, PermissionRequest, Question, SettingsError, on
from toolpost._frozen import frozen
from toolpost_core.permissions.combine import Opinion, Verdict
from toolpost_core.permissions.denials import DenialCounts
from toolpost_core.permissions.gate import Early, Gate, request_for, why_nobody_can_be_asked
from toolpost_core.permissions.places import decided
from toolpost_core.tools.told import server_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from toolpost import (
        Asker,
        DecidedPaths,
        Decision,
        Message,
        PermissionScope,
        Rule,
        RuleUpdate,
        SessionScope,
        Tool,
        ToolContext,
        View,
    )
    from toolpost.events.tool import PreToolUseOutcome
    from toolpost_core.events.dispatch import Dispatcher
    from toolpost_core.tools.pool import Pool


PREVIEW_LIMIT: Final = 2.0
"""Seconds that the person who is asked waits to be shown what a call would do."""

REWRITES: Final = 5
"""How often the input of one call may be rewritten: two resolvers may each want another one."""


@frozen()
class Candidate:
    """An input in its two forms: as JSON, and as the tool reads it."""

    raw: Mapping[str, Any]
    parsed: Any


@frozen()
class Circumstances:
    """What a decision depends on beside the call."""

    scope: PermissionScope
    rules: Sequence[Rule]
    agent_type: str | None = None
    skill: str | None = None
    messages: Sequence[Message] = ()
    session: SessionScope | None = None
    denials: DenialCounts = field(default_factory=DenialCounts)


@frozen()
class Ruling:
    """A verdict on a call and the input that it is about; `rewritten` says that it is not the one that was asked for."""

    verdict: Verdict
    candidate: Candidate
    request: PermissionRequest
    rewritten: bool = False


class Permitter:
    """Decides on calls; changes nothing."""

    def __init__(self, gate: Gate, pool: Pool) -> None:
        self._gate = gate
        self._pool = pool

    async def rule(
        self,
        tool: Tool[Any],
        candidate: Candidate,
        around: Circumstances,
        *,
        tool_use_id: str = "",
        hook: PreToolUseOutcome | None = None,
        hook_failure: str | None = None,
        early: Early | None = None,
    ) -> Ruling:
        """Return the verdict on a call after its PreToolUse listeners; `early` is what was asked before they were.

        Where a hook or a resolver rewrote the input, a deny on the input before it stands: a rewrite must not hide a call
        from a rule. Raises InvalidInput where the rewritten input does not fit, or is rewritten over and over.
        """
        opinions = _opinions(hook, hook_failure)
        ruling = await self._decide(tool, candidate, around, tool_use_id, opinions, early)
        new = hook.updated_input if hook is not None else None
        for _ in range(REWRITES):
            new = _rewrite(ruling.verdict) if new is None else new
            if new is None or new == ruling.candidate.raw or ruling.verdict.wanted == "deny":
                return ruling
            decided = await self._decide(tool, self.read(tool, new), around, tool_use_id, opinions)
            ruling, new = replace(decided, rewritten=True), None
        raise InvalidInput("each time that it was decided on, it was rewritten again")

    def read(self, tool: Tool[Any], raw: Mapping[str, Any]) -> Candidate:
        """Read an input; raises InvalidInput."""
        return Candidate(raw, parse(self._pool, tool, raw))

    def decided(self, request: PermissionRequest) -> DecidedPaths:
        """Return where the paths of an allowed call lead, and what it must not read of the files that it comes upon."""
        return decided(request, self._gate.withheld(request))

    def ahead(self, tool: Tool[Any], candidate: Candidate, around: Circumstances, tool_use_id: str) -> Early | None:
        """Begin to ask those who are asked last; None where there are none. Whoever called it cancels what goes on."""
        if not self._gate.has_last_resort(around.scope.mode):
            return None
        request = self._request(tool, candidate, around, tool_use_id)
        return Early(request, asyncio.ensure_future(self._ask_ahead(tool, candidate, request)))

    async def _ask_ahead(self, tool: Tool[Any], candidate: Candidate, request: PermissionRequest) -> list[Opinion]:
        return await self._gate.ahead(request, await _own(tool, candidate.parsed, request.scope))

    async def _decide(
        self,
        tool: Tool[Any],
        candidate: Candidate,
        around: Circumstances,
        tool_use_id: str,
        hooks: Sequence[Opinion],
        early: Early | None = None,
    ) -> Ruling:
        request = self._request(tool, candidate, around, tool_use_id)
        own = await _own(tool, candidate.parsed, around.scope)
        return Ruling(await self._gate.decide(request, own, hooks, early), candidate, request)

    def _request(
        self, tool: Tool[Any], candidate: Candidate, around: Circumstances, tool_use_id: str
    ) -> PermissionRequest:
        request = request_for(
            tool,
            tool.name,
            PermissionRequest(
                tool_name=tool.name,
                tool_input=candidate.raw,
                scope=around.scope,
                rules=around.rules,
                tool_use_id=tool_use_id,
                agent_type=around.agent_type,
                skill=around.skill,
                messages=around.messages,
                session=around.session,
            ),
            candidate.parsed,
        )
        return replace(request, denials=around.denials.of(request))


def parse(pool: Pool, tool: Tool[Any], raw: Mapping[str, Any]) -> Any:
    """Read an input as the tool's shape says; an input that only has a JSON Schema is checked against it."""
    shape = pool.shape(tool)
    if tool.input_model is None and tool.input_schema is not None:
        _check_schema(raw, tool.input_schema)
    return shape.parse(raw)


@frozen()
class Settled:
    """The answer to an ask, and who gave it. `stop` ends the turn as well."""

    decision: Decision
    by: Literal["user", "hook", "nobody"]
    updated_input: Mapping[str, Any] | None = None
    stop: bool = False


class Interview:
    """Puts an ask to PermissionRequest listeners and then to a person.

    `may_grant` says what of an update would count. `report` gets what of an answer did not work, `notify` the name of the
    tool that a person is asked about.
    """

    def __init__(
        self,
        events: Dispatcher,
        ask: Asker | None,
        update: Callable[[Sequence[RuleUpdate]], None],
        may_grant: Callable[[RuleUpdate], bool],
        report: Callable[[str], None],
        notify: Callable[[str], None],
    ) -> None:
        self._events = events
        self._ask = ask
        self._update = update
        self._may_grant = may_grant
        self._report = report
        self._notify = notify

    async def settle(self, ruling: Ruling, title: str, ctx: ToolContext | None = None) -> Settled:
        """Return the answer to an ask. With `ctx` the person is shown what the call would do."""
        answer = await self._listeners(ruling)
        if answer is not None:
            return answer
        if self._ask is None or why_nobody_can_be_asked(ruling.request) is not None:
            return Settled(Deny(ruling.verdict.reason), "nobody")
        question = Question(
            request=ruling.request,
            decision=self._put(ruling),
            title=ruling.request.tool_name,
            details=title,
            view=await _preview(ruling, ctx),
        )
        self._notify(ruling.request.tool_name)
        reply = await self._ask(question)
        if not reply.allow:
            return Settled(Deny(reply.feedback), "user", stop=reply.stop)
        self._grant(reply.updates)
        return Settled(Allow("the user said yes"), "user", reply.updated_input)

    def _grant(self, updates: Sequence[RuleUpdate]) -> None:
        """Take over what was granted for good; what can't be is reported, and this once was granted all the same."""
        if not updates:
            return
        try:
            self._update(updates)
        except SettingsError as error:
            self._report(f"The permission was given this once only: {error}")

    def _put(self, ruling: Ruling) -> Decision:
        """Return the decision as it is put to the person, with what "yes, always" would grant."""
        decision = _with_suggestions(ruling)
        return replace(decision, suggestions=tuple(filter(self._may_grant, decision.suggestions)))

    async def refused(self, ruling: Ruling) -> str:
        """Tell listeners of a refusal without a person; return what the model is told of trying again."""
        if not self._events.hears("permission_denied"):
            return ""
        from toolpost.events.permission import PermissionDenied

        request = ruling.request
        value = PermissionDenied(
            tool_name=request.tool_name,
            tool_input=request.tool_input,
            tool_use_id=request.tool_use_id,
            reason=ruling.verdict.reason,
            mcp_server=server_of(request.tool),
        )
        outcome = (await self._events.emit(on.permission_denied, value)).outcome
        if outcome is None:
            return ""
        said = ("You may try again." if outcome.retry else "", outcome.additional_context)
        return "".join(f"\n{text}" for text in said if text)

    async def _listeners(self, ruling: Ruling) -> Settled | None:
        if not self._events.hears("permission_request"):
            return None
        from toolpost.events.permission import PermissionAsked

        request = ruling.request
        asked = PermissionAsked(
            tool_name=request.tool_name,
            tool_input=request.tool_input,
            tool_use_id=request.tool_use_id,
            reason=ruling.verdict.reason,
            permission_suggestions=self._put(ruling).suggestions,
            mcp_server=server_of(request.tool),
        )
        emission = await self._events.emit(on.permission_request, asked)
        outcome = emission.outcome
        if outcome is not None and outcome.stop:
            return Settled(Deny(outcome.stop_reason or outcome.message or "it ended the turn"), "hook", stop=True)
        if outcome is None or outcome.decision is None:
            return None
        if outcome.decision == "deny":
            return Settled(Deny(outcome.message or "it gave no reason"), "hook", stop=outcome.interrupt)
        if emission.failure is not None:
            return None  # who failed might have said no
        self._grant(cast("Sequence[RuleUpdate]", outcome.updated_permissions))
        return Settled(Allow("a hook answered yes"), "hook", outcome.updated_input)


def _with_suggestions(ruling: Ruling) -> Decision:
    """Return the decision with what could be granted for good.

    Where someone wants to be asked, a rule that allows would change nothing, so only what the asker itself suggests counts.
    """
    decisive, reason = ruling.verdict.decisive, ruling.verdict.reason
    if decisive is not None:
        return replace(decisive.decision, reason=reason)
    tool = ruling.request.tool
    try:
        offered = tool.suggestions(ruling.candidate.parsed, ruling.request.scope) if tool is not None else ()
    except Exception:
        offered = ()
    return Ask(reason, suggestions=tuple(offered))


async def _preview(ruling: Ruling, ctx: ToolContext | None) -> View | None:
    tool = ruling.request.tool
    if tool is None or ctx is None:
        return None
    try:
        async with asyncio.timeout(PREVIEW_LIMIT):
            return await tool.preview(ruling.candidate.parsed, ctx)
    except Exception:
        return None  # the input is shown as it is


def _rewrite(verdict: Verdict) -> Mapping[str, Any] | None:
    """Return the input that somebody whose opinion counts wants instead."""
    wanted = (opinion.decision.updated_input for opinion in verdict.opinions if not opinion.dropped)
    return next((new for new in wanted if new is not None), None)


def _opinions(hook: PreToolUseOutcome | None, failure: str | None) -> list[Opinion]:
    opinions = []
    if failure is not None:
        opinions.append(Opinion("PreToolUse hook", "hook", Deny(failure)))
    if hook is not None and hook.decision is not None:
        reason = hook.reason or f"a PreToolUse hook said {hook.decision}"
        made = {"allow": Allow, "ask": Ask, "deny": Deny, "defer": Ask}[hook.decision](reason)
        opinions.append(Opinion("PreToolUse hook", "hook", made))
    return opinions


async def _own(tool: Tool[Any], parsed: Any, scope: PermissionScope) -> Decision | None:
    try:
        return await tool.check_permissions(parsed, scope)
    except Exception as error:
        return Ask(f"the permission check of {tool.name} failed: {error!r}")


def _check_schema(raw: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    import jsonschema

    validator = jsonschema.validators.validator_for(dict(schema))(dict(schema))
    mistakes = sorted(validator.iter_errors(dict(raw)), key=lambda mistake: mistake.json_path)
    if mistakes:
        raise InvalidInput("\n".join(f"{mistake.json_path}: {mistake.message}" for mistake in mistakes[:10]))
