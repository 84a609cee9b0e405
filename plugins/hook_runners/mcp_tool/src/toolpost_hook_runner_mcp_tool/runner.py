"""The runner: calls the tool, and takes what it says for what a program would print (compat.md 2.3)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from toolpost import HookAnswer, HookJob, HookRunner, MissingService, SessionScope, ToolpostError


class McpToolRunner(HookRunner):
    """Calls the `tool` of the `server` that the hook names, with its `input`."""

    type: ClassVar[str] = "mcp_tool"

    async def run(self, job: HookJob, scope: SessionScope) -> HookAnswer:
        """Call it within the hook's time; a server that is not connected, and an error of the tool, is a failure."""
        began = time.monotonic()
        try:
            async with asyncio.timeout(job.timeout):
                answer = await _called(job, scope)
        except TimeoutError:
            answer = HookAnswer(status="timed_out", reason=f"the tool had no answer after {job.timeout:g} s")
        except ToolpostError as error:
            answer = HookAnswer(status="failed", reason=f"the tool could not be called: {error}")
        return replace(answer, duration=time.monotonic() - began)


async def _called(job: HookJob, scope: SessionScope) -> HookAnswer:
    from toolpost.services import Mcp

    from .template import filled

    server, tool, given = (job.handler.get(key) for key in ("server", "tool", "input"))
    if not isinstance(server, str) or not server or not isinstance(tool, str) or not tool:
        reason = f"{job.source or 'the hook'} needs a 'server' and a 'tool' that are texts"
        return HookAnswer(status="failed", reason=reason)
    if not isinstance(given, Mapping | None):
        return HookAnswer(status="failed", reason=f"{job.source or 'the hook'} has an 'input' that is no object")
    try:
        if scope.services is None:
            raise MissingService("There is no session.")
        mcp = scope.services.get(Mcp)
    except MissingService as error:
        reason = f"no MCP server is connected, so {tool!r} of {server!r} can't be called: {error}"
        return HookAnswer(status="failed", reason=reason)
    return _answer(await mcp.call(server, tool, filled(given or {}, job.payload)))


def _answer(result: Mapping[str, Any]) -> HookAnswer:
    blocks = [block for block in result.get("content") or () if isinstance(block, Mapping)]
    text = "\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text").strip()
    if result.get("isError"):
        return HookAnswer(status="failed", reason=text or "the tool said that it failed, and not why")
    if text.startswith("{"):
        try:
            said = json.loads(text)
        except (ValueError, RecursionError):
            pass
        else:
            return HookAnswer(status="ok", output=said)
    return HookAnswer(status="ok", text=text)
