"""`Agents`: runs sub-agents, each where an executor puts it."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, cast

import toolpost
from toolpost import AgentResult, SessionError
from toolpost_core.loop.messages import blocks_of
from toolpost_core.session.asked_of_agents import check, isolation_of
from toolpost_core.session.child import Child
from toolpost_core.session.declared import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolpost import AgentExecutor, AgentRequest, SessionEvent, SessionScope, TextBlock
    from toolpost_core.session.inner import Inner

DEEPEST: Final = 3
"""Agents that may be below one another; each could start others, and nobody would see the end of it."""


class SubAgents:
    """Runs the sub-agents of one session."""

    def __init__(self, session: Inner) -> None:
        self._session = session

    async def run(self, request: AgentRequest) -> AgentResult:
        """Run one to its end; raises SessionError where it can't begin."""
        depth = self._session.surroundings.whose.depth
        if depth >= DEEPEST:
            raise SessionError(
                f"This agent is {depth} agents deep, and no more than {DEEPEST} may be below one another: do the work here."
            )
        check(request, self._session)
        executor, plugin = self._executor(isolation_of(request))
        limits = Limits(self._session.parts.registry.manager.rules)
        scope = limits.scope(self._session.scope(), f"executors/{plugin}")
        return await executor.run(request, scope, self._run_here)

    def _executor(self, isolation: str) -> tuple[AgentExecutor, str]:
        registry = self._session.parts.registry
        for provided in registry.in_order("executors"):
            if provided.value.isolation == isolation:
                return provided.value, provided.plugin
        off = sorted(
            entry.name
            for entry in registry.inventory.entries
            if entry.group == "executors" and registry.state_of(entry).status != "on"
        )
        raise SessionError(
            f"No enabled plugin runs agents with the isolation {isolation!r}. "
            + (f"Enable one of: {', '.join(off)}." if off else "Install a plugin of the kind `executors` that does.")
        )

    async def _run_here(self, request: AgentRequest, scope: SessionScope) -> AgentResult:
        """Run an agent in this process, in the folder of `scope`: the `run_here` of executors."""
        child = Child(self._session, request, scope, allowed_tools(self._session, request))
        hooks = request.definition.hooks if request.definition is not None else {}
        end_hooks = child.added_hooks.add(hooks) if hooks else None
        told, refused = _Told(self._session, request), False
        try:
            async with aclosing(child.submit(request.prompt)) as events:
                async for event in events:
                    told.take(event)
                    refused = child.abort_in_force.reason == "rejected"
            if refused:  # a person who says "stop" to a call means the whole turn
                self._session.interrupt("rejected")
            return told.result(child)
        finally:
            self._session.denials += child.denials
            if end_hooks is not None:
                end_hooks()
            await child.aclose()


def allowed_tools(parent: Inner, request: AgentRequest) -> tuple[str, ...] | None:
    """Return the names of a sub-agent's tools, which are among its parent's; None where they are the same."""
    definition = request.definition
    if definition is None or (definition.tools is None and not definition.disallowed_tools):
        return parent.parts.options.tools
    kept = []
    for entry in parent.engine().pool.entries:
        names = (entry.tool.name, *entry.tool.aliases)
        if (definition.tools is None or _named(names, definition.tools)) and not _named(
            names, definition.disallowed_tools
        ):
            kept.append(entry.tool.name)
    return tuple(kept)


def _named(names: Sequence[str], patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)


class _Told:
    """What a sub-agent does, as its parent's front ends are told of it, and what it came to."""

    def __init__(self, parent: Inner, request: AgentRequest) -> None:
        self._parent, self._call = parent, request.tool_use_id
        self._tool_uses = 0
        self._answer: tuple[str, list[str]] = ("", [])
        self._ended: toolpost.RunResult | None = None

    def take(self, event: SessionEvent) -> None:
        """Take one event of the sub-agent."""
        if isinstance(event, toolpost.AssistantMessage):
            self._count(event)
        if isinstance(event, toolpost.RunResult):
            self._ended = event
        elif isinstance(event, toolpost.AssistantMessage | toolpost.UserMessage):
            if self._call:
                self._parent.emit(replace(event, parent_tool_use_id=event.parent_tool_use_id or self._call))
        elif isinstance(event, toolpost.Notice):
            self._parent.emit(event)

    def result(self, child: Child) -> AgentResult:
        """Return what it came to."""
        ended = self._ended
        assert ended is not None, "every run ends with a RunResult"
        texts = self._answer[1] if ended.is_error or not ended.text else [ended.text]
        error = (ended.text or f"it was ended: {ended.terminal_reason}") if ended.is_error else None
        return AgentResult(
            agent_id=child.agent.agent_id or "",
            content=[{"type": "text", "text": text} for text in texts],
            error=error,
            total_tokens=child.conversation.used,
            tool_uses=self._tool_uses,
            duration=ended.duration,
        )

    def _count(self, event: toolpost.AssistantMessage) -> None:
        known, texts = self._answer
        texts = texts if known == event.message_id else []
        for block in blocks_of(event.message):
            if block["type"] == "tool_use":
                self._tool_uses += 1
            elif block["type"] == "text":
                texts = [*texts, cast("TextBlock", block)["text"]]
        self._answer = (event.message_id, texts)
