"""Asks everyone who may have an opinion on a call."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from toolpost import Ask, Decision
from toolpost._frozen import frozen
from toolpost_core.events.isolation import is_own
from toolpost_core.permissions.combine import Opinion, Verdict, combine, is_open
from toolpost_core.permissions.places import real_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from toolpost import PermissionMode, PermissionRequest, PermissionResolver, Rule, SessionScope, Tool

RESOLVER_LIMIT = 30.0
"""Seconds that a resolver may take; a classifier asks a model."""


@frozen()
class Resolver:
    """A resolver with where it comes from. Without `decides` it may only tighten.

    `limited` takes out of the session what the resolver's package does not declare.
    """

    name: str
    distribution: str
    resolver: PermissionResolver
    decides: bool
    limited: Callable[[SessionScope], SessionScope] = lambda session: session


@frozen()
class Early:
    """What resolvers of the last resort were asked before listeners had spoken, and about which request."""

    request: PermissionRequest
    answers: asyncio.Task[list[Opinion]]


class Gate:
    """Decides on calls with the session's resolvers."""

    def __init__(self, resolvers: Sequence[Resolver]) -> None:
        self._resolvers = tuple(resolver for resolver in resolvers if not resolver.resolver.last_resort)
        self._last = tuple(resolver for resolver in resolvers if resolver.resolver.last_resort)
        self._enforces = any(resolver.resolver.enforces_rules for resolver in resolvers)

    async def decide(
        self,
        request: PermissionRequest,
        own: Decision | None = None,
        hooks: Sequence[Opinion] = (),
        early: Early | None = None,
    ) -> Verdict:
        """Return the verdict on a request. `own` is the tool's opinion, `hooks` those of PreToolUse listeners."""
        opinions = [*hooks, *await self._ordinary(request, own)]
        if self._last and is_open(opinions):
            asked = early is not None and early.request.tool_input == request.tool_input
            opinions += await early.answers if early is not None and asked else await self._resort(request)
        return combine(opinions, cannot_ask=why_nobody_can_be_asked(request))

    def withheld(self, request: PermissionRequest) -> Callable[[Path], bool] | None:
        """Return what says of a file that an allowed call comes upon whether a resolver keeps it back; None: none does."""
        tests = [test for resolver in (*self._resolvers, *self._last) if (test := _withholding(resolver, request))]
        return (lambda file: any(test(file) for test in tests)) if tests else None

    def has_last_resort(self, mode: PermissionMode) -> bool:
        """Whether in this mode some resolver is asked only about what the others leave open."""
        return any(mode in resolver.resolver.last_resort for resolver in self._last)

    async def ahead(self, request: PermissionRequest, own: Decision | None) -> list[Opinion]:
        """Ask the resolvers of the last resort before it is known what listeners say."""
        return await self._resort(request) if is_open(await self._ordinary(request, own)) else []

    async def _ordinary(self, request: PermissionRequest, own: Decision | None) -> list[Opinion]:
        opinions = [] if own is None else [Opinion(f"tool {request.tool_name}", "tool", own)]
        if not self._enforces and (rule := next((rule for rule in request.rules if rule.behavior != "allow"), None)):
            opinions.append(Opinion("rules", "failure", Ask(_unenforced(rule))))
        return opinions + await self._answers(self._resolvers, request)

    async def _resort(self, request: PermissionRequest) -> list[Opinion]:
        return await self._answers([r for r in self._last if request.mode in r.resolver.last_resort], request)

    async def _answers(self, resolvers: Sequence[Resolver], request: PermissionRequest) -> list[Opinion]:
        answers = [await self._ask(resolver, request) for resolver in resolvers]
        return [answer for answer in answers if answer is not None]

    async def _ask(self, resolver: Resolver, request: PermissionRequest) -> Opinion | None:
        if request.session is not None:
            request = replace(request, session=resolver.limited(request.session))
        clock = asyncio.timeout(RESOLVER_LIMIT)
        try:
            async with clock:
                decision = await resolver.resolver.resolve(request)
            if decision is not None and not isinstance(decision, Decision):
                raise TypeError(f"it answered {decision!r:.200}, which is no Decision")
        except BaseException as error:
            if not is_own(error):
                raise
            how = f"gave no answer within {RESOLVER_LIMIT:g} s" if clock.expired() else f"failed: {error!r}"
            said = f"the permission resolver {resolver.name!r} ({resolver.distribution}) {how}"
            return Opinion(resolver.name, "failure", Ask(said))
        if decision is None:
            return None
        dropped = ""
        if decision.behavior == "allow" and not resolver.decides:
            dropped = "may only tighten: it has no `decide` grant in the user's settings"
        return Opinion(resolver.name, "rule" if decision.rule is not None else "resolver", decision, dropped)


def _withholding(resolver: Resolver, request: PermissionRequest) -> Callable[[Path], bool] | None:
    """Return the resolver's test, made so that it keeps back what it fails on."""
    try:
        test = resolver.resolver.withholds(request)
    except Exception:
        return lambda _: True
    return None if test is None else _closed(test)


def _closed(test: Callable[[Path], bool]) -> Callable[[Path], bool]:
    def withheld(file: Path) -> bool:
        try:
            return test(file) is not False
        except Exception:
            return True

    return withheld


def _unenforced(rule: Rule) -> str:
    return (
        f"no permission resolver that is on enforces rules, and there are some ({rule.behavior} {rule}, "
        f"{rule.file or rule.source}): turn one on, such as with `toolpost plugins enable rules`"
    )


def why_nobody_can_be_asked(request: PermissionRequest) -> str | None:
    """Return the reason, for the verdict, or None where a person can be asked."""
    if request.mode == "dontAsk":
        return "the permission mode dontAsk refuses what it would have to ask about"
    if not request.scope.interactive:
        return "there is nobody to ask in this run (allow it with a permission rule, or run interactively)"
    return None


def request_for(
    tool: Tool[object] | None, name: str, request: PermissionRequest, parsed: object | None
) -> PermissionRequest:
    """Complete a request with what the tool says of its input."""
    if tool is None or parsed is None:
        return replace(request, tool_name=name)
    path = tool.get_path(parsed)
    return replace(
        request,
        tool_name=tool.name,
        tool=tool,
        read_only=tool.is_read_only(parsed),
        destructive=tool.is_destructive(parsed),
        open_world=tool.is_open_world(parsed),
        path=path,
        real_path=real_path(path, request.scope),
        described=tool.classifier_input(parsed),
        matcher=tool.permission_matcher(parsed, request.scope),
    )
