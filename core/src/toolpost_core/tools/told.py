"""What listeners are told of a call, before and after it ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolpost import on
from toolpost._frozen import frozen
from toolpost_core.events.dispatch import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolpost import Tool, ToolUse
    from toolpost.events._base import BlockOutcome
    from toolpost.events.tool import PostToolUseOutcome, PreToolUseOutcome
    from toolpost_core.events.dispatch import Dispatcher, Emission
    from toolpost_core.tools.pool import Pool


@frozen()
class Told:
    """Tells listeners of calls; where nobody listens nothing is made."""

    events: Dispatcher
    pool: Pool

    async def before(
        self, call: ToolUse, name: str, tool_input: Mapping[str, Any], *, read_only: bool
    ) -> Emission[PreToolUseOutcome]:
        """Tell that a call is about to be decided on."""
        if not self.events.hears("pre_tool_use"):
            return NOTHING
        from toolpost.events.tool import PreToolUse

        value = PreToolUse(
            tool_name=name,
            tool_input=tool_input,
            tool_use_id=call.id,
            read_only=read_only,
            mcp_server=self._server(name),
        )
        return await self.events.emit(on.pre_tool_use, value)

    async def after(
        self, call: ToolUse, name: str, tool_input: Mapping[str, Any], data: Any, duration: float
    ) -> PostToolUseOutcome | None:
        """Tell that a call ran."""
        if not self.events.hears("post_tool_use"):
            return None
        from toolpost.events.tool import PostToolUse

        value = PostToolUse(
            tool_name=name,
            tool_input=tool_input,
            tool_response=data,
            tool_use_id=call.id,
            duration=duration,
            mcp_server=self._server(name),
        )
        return (await self.events.emit(on.post_tool_use, value)).outcome

    async def failed(
        self, call: ToolUse, name: str, tool_input: Mapping[str, Any], text: str, duration: float, *, interrupted: bool
    ) -> BlockOutcome | None:
        """Tell that a call failed, was refused by its input, or was called off."""
        if not self.events.hears("post_tool_use_failure"):
            return None
        from toolpost.events.tool import PostToolUseFailure

        value = PostToolUseFailure(
            tool_name=name,
            tool_input=tool_input,
            tool_use_id=call.id,
            error=text,
            is_interrupt=interrupted,
            duration=duration,
            mcp_server=self._server(name),
        )
        return (await self.events.emit(on.post_tool_use_failure, value)).outcome

    def _server(self, name: str) -> Mapping[str, str] | None:
        entry = self.pool.find(name)
        return server_of(entry.tool) if entry is not None else None


def server_of(tool: Tool[Any] | None) -> Mapping[str, str] | None:
    """Return the MCP server that a tool is of, as events name it; None for any other tool."""
    info = tool.mcp_info if tool is not None else None
    return {"name": info.server, "source": info.source} if info is not None else None
