"""What a type checker must take: listeners of every sort, each with the type that it has without its decorator."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, assert_type

from toolpost import Plugin, PreToolUse, PreToolUseOutcome, on


@on.pre_tool_use
def function(event: PreToolUse) -> PreToolUseOutcome | None:
    return PreToolUseOutcome(reason=event.tool_name)


@on.pre_tool_use.listener(timeout=2)
async def coroutine(event: PreToolUse) -> PreToolUseOutcome | None:
    return function(event)


@on.pre_tool_use.listener(on_failure="continue")
def awaitable(event: PreToolUse) -> Awaitable[PreToolUseOutcome | None]:
    return asyncio.ensure_future(coroutine(event))


class Listens(Plugin):
    """Methods of a plugin."""

    @on.pre_tool_use
    def method(self, event: PreToolUse) -> PreToolUseOutcome | None:
        return function(event)

    @on.pre_tool_use.listener(timeout=2)
    def limited(self, event: PreToolUse) -> None:
        self.method(event)

    @on.pre_tool_use.listener(on_failure="continue", timeout=2)
    async def coroutine(self, event: PreToolUse) -> PreToolUseOutcome | None:
        return await coroutine(event)


def uses(plugin: Listens, event: PreToolUse) -> None:
    """Call each as its author would in a test."""
    assert_type(function, Callable[[PreToolUse], PreToolUseOutcome | None])
    assert_type(coroutine, Callable[[PreToolUse], Coroutine[Any, Any, PreToolUseOutcome | None]])
    assert_type(awaitable, Callable[[PreToolUse], Awaitable[PreToolUseOutcome | None]])
    assert_type(plugin.method(event), PreToolUseOutcome | None)
    assert_type(plugin.limited(event), PreToolUseOutcome | None)
    assert_type(asyncio.run(plugin.coroutine(event)), PreToolUseOutcome | None)
