"""Asks everyone who may have an opinion on a call."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolpost import Ask, Decision
from toolpost_core.events.isolation import is_own
from toolpost_core.permissions.combine import Opinion, Verdict, combine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost import PermissionRequest, PermissionResolver, Tool

RESOLVER_LIMIT = 30.0
"""Seconds that a resolver may take; a classifier asks a model."""


@dataclass(frozen=True)
class Resolver:
    """A resolver with where it comes from. Without `decides` it may only tighten."""

    name: str
    distribution: str
    resolver: PermissionResolver
    decides: bool


class Gate:
    """Decides on calls with the session's resolvers."""

    def __init__(self, resolvers: Sequence[Resolver]) -> None:
        self._resolvers = tuple(resolvers)

    async def decide(
        self, request: PermissionRequest, own: Decision | None = None, hooks: Sequence[Opinion] = ()
    ) -> Verdict:
        """Return the verdict on a request. `own` is the tool's opinion, `hooks` those of PreToolUse listeners."""
        opinions = list(hooks)
        if own is not None:
            opinions.append(Opinion(f"tool {request.tool_name}", "tool", own))
        opinions += await self._resolve(request)
        return combine(opinions, cannot_ask=why_nobody_can_be_asked(request))

    async def _resolve(self, request: PermissionRequest) -> list[Opinion]:
        answers = [await self._ask(resolver, request) for resolver in self._resolvers]
        return [answer for answer in answers if answer is not None]

    async def _ask(self, resolver: Resolver, request: PermissionRequest) -> Opinion | None:
        try:
            async with asyncio.timeout(RESOLVER_LIMIT):
                decision = await resolver.resolver.resolve(request)
            if decision is not None and not isinstance(decision, Decision):
                raise TypeError(f"it answered {decision!r:.200}, which is no Decision")
        except BaseException as error:
            if not is_own(error):
                raise
            said = f"the permission resolver {resolver.name!r} ({resolver.distribution}) failed: {error!r}"
            return Opinion(resolver.name, "failure", Ask(said))
        if decision is None:
            return None
        dropped = ""
        if decision.behavior == "allow" and not resolver.decides:
            dropped = "may only tighten: it has no `decide` grant in the user's settings"
        return Opinion(resolver.name, "rule" if decision.rule is not None else "resolver", decision, dropped)


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
    return replace(
        request,
        tool_name=tool.name,
        tool=tool,
        read_only=tool.is_read_only(parsed),
        destructive=tool.is_destructive(parsed),
        path=tool.get_path(parsed),
        matcher=tool.permission_matcher(parsed, request.scope),
    )
