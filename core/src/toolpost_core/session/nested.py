"""Decisions on what a tool does within its call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolpost import Allow, Deny, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolpost import Decision, Tool
    from toolpost_core.session.inner import Inner


async def decide(
    session: Inner, tool_name: str, tool_input: Mapping[str, Any], stand_in: Tool[Any] | None = None
) -> Decision:
    """Return an Allow or a Deny, after asking a person where one must be.

    `stand_in` is judged where the session has no tool of that name.
    Who asks does what it asked about: an allow of another input is a deny.
    """
    engine = session.engine()
    entry = engine.pool.find(tool_name)
    tool = entry.tool if entry is not None else stand_in
    if tool is None:
        return Deny(f"no such tool: {tool_name!r}")
    try:
        candidate = engine.permitter.read(tool, tool_input)
        ruling = await engine.permitter.rule(tool, candidate, session.circumstances())
    except InvalidInput as error:
        return Deny(f"the input of {tool_name} does not fit: {error}")
    changed = ruling.candidate.raw if ruling.rewritten else None
    decision: Decision = (Deny if ruling.verdict.wanted == "deny" else Allow)(ruling.verdict.reason)
    if ruling.verdict.wanted == "ask":
        settled = await engine.interview.settle(ruling, tool.description(ruling.candidate.parsed))
        if settled.stop:
            session.interrupt("rejected")
        decision = settled.decision
        changed = changed if settled.updated_input is None else settled.updated_input
    if changed is not None and decision.behavior == "allow":
        return Deny(f"it is allowed with another input only: {changed}")
    return decision
