"""One call of a session, through its world where it has one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from toolpost import CallEnd, ToolContext, ToolUse, World
    from toolpost_core.session.inner import Inner
    from toolpost_core.tools.abort import AbortNode
    from toolpost_core.tools.calls import CallResult


async def called(session: Inner, call: ToolUse, node: AbortNode) -> CallResult:
    """Run a call; what a recording has of it counts where there is one."""
    world = session.parts.outside.world
    if world is None:
        return await session.engine().pipeline.run(call, node)
    return await _through(world, call, node, session.surroundings.ctx, session.engine().pipeline.run)


async def _through(
    world: World,
    call: ToolUse,
    node: AbortNode,
    ctx: ToolContext,
    run: Callable[[ToolUse, AbortNode], Awaitable[CallResult]],
) -> CallResult:
    ran: list[tuple[CallResult, CallEnd]] = []

    within = node.child(contains=True)  # what a refusal ends waits for the world, which knows when it did

    async def through() -> CallEnd:
        result = await run(call, within)
        ran.append((result, _end(result, within, ctx)))
        return ran[0][1]

    end = await world.call(call, through)
    if end.rejected:
        node.abort("rejected")
    if ran and ran[0][1] is end:
        return ran[0][0]
    return _result(call, end, ran[0][0] if ran else None)


def _end(result: CallResult, node: AbortNode, ctx: ToolContext) -> CallEnd:
    from toolpost import CallEnd

    return CallEnd(
        block=result.block,
        data=result.data,
        new_messages=result.new_messages,
        duration=result.duration,
        denied=result.denied,
        rejected=node.reason == "rejected",
        stop=result.stop,
        deferred=result.deferred,
        cwd=_moved_to(result, ctx),
    )


def _moved_to(result: CallResult, ctx: ToolContext) -> Any:
    """Return the folder that a result changes to; what a modifier fails at is told where it is applied."""
    if result.context_modifier is None:
        return None
    try:
        cwd = result.context_modifier(ctx).cwd
    except Exception:
        return None
    return cwd if cwd != ctx.cwd else None


def _result(call: ToolUse, end: CallEnd, ran: CallResult | None) -> CallResult:
    """Return a recorded result. Where the call ran as well, what it changes in the context is what it did change."""
    from toolpost_core.tools.calls import CallResult

    cwd = end.cwd

    def move(ctx: ToolContext) -> ToolContext:
        return replace(ctx, cwd=cwd) if cwd is not None else ctx

    return CallResult(
        call,
        end.block,
        end.data,
        tuple(end.new_messages),
        ran.context_modifier if ran is not None else move if cwd is not None else None,
        end.duration,
        stop=end.stop,
        was_denied=end.denied,
        deferred=end.deferred,
    )
