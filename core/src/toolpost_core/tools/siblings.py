"""The calls of one answer, of which one that fails may call off others."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from toolpost import AbortReason, ToolUse
    from toolpost_core.tools.abort import AbortNode
    from toolpost_core.tools.calls import CallResult


class Siblings:
    """Runs each call with an abort node of its own, below one that all have above them.

    A failing call of a tool that `aborts_siblings` calls off the calls of the same tool that run or wait, and nobody else.
    """

    def __init__(
        self,
        node: AbortNode,
        run: Callable[[ToolUse, AbortNode], Awaitable[CallResult]],
        aborts_siblings: Callable[[str], bool],
    ) -> None:
        self._node = node
        self._run = run
        self._aborts_siblings = aborts_siblings
        self._nodes: dict[str, tuple[str, AbortNode]] = {}
        self._failed: set[str] = set()

    async def __call__(self, call: ToolUse) -> CallResult:
        """Run one call."""
        node = self._node.child()
        self._nodes[call.id] = (call.name, node)
        if call.name in self._failed:
            node.abort("sibling_error")
        result = await self._run(call, node)
        if result.is_error and not node.aborted and result.duration and self._aborts_siblings(call.name):
            self._call_off_fellows(call)
        return result

    def abort(self, reason: AbortReason) -> None:
        """Call off all of them."""
        self._node.abort(reason)

    def _call_off_fellows(self, failed: ToolUse) -> None:
        self._failed.add(failed.name)
        for id, (name, node) in self._nodes.items():
            if id != failed.id and name == failed.name:
                node.abort("sibling_error")
