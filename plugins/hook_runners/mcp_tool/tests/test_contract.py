from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from toolpost import ToolFailed
from toolpost.services import Mcp
from toolpost.testing import HookRunnerContract
from toolpost_hook_runner_mcp_tool import McpToolRunner


class Server:
    """A server with a tool that answers, and one that never does."""

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        if server != "here":
            raise ToolFailed(f"the server {server!r} is not connected")
        if tool == "waits":
            await asyncio.Event().wait()
        return {"content": [{"type": "text", "text": "fine"}]}

    def servers(self) -> Mapping[str, str]:
        return {"here": "connected"}


class TestMcpToolRunner(HookRunnerContract):
    plugin = McpToolRunner
    services = {Mcp: Server()}
    works = {"type": "mcp_tool", "server": "here", "tool": "answers"}
    too_slow = {"type": "mcp_tool", "server": "here", "tool": "waits"}
    broken = {"type": "mcp_tool", "server": "gone", "tool": "answers"}
