"""A mock of the Messages API: real HTTP and SSE on loopback, scripted answers, faults, and a log of requests.

In a test:

    async with MockMessagesApi([turn(text("Looking."), tool_use("Bash", {"command": "true"})), "Done."]) as api:
        ...  # ANTHROPIC_BASE_URL=api.url
        assert api.requests[1].tool_results

From a sync test, for a program in a process of its own: `with MockMessagesApi(script).run_in_thread() as api:`.
As a program: `python tests/support/mock_messages_api.py SCRIPT.json` prints `PORT n` and serves until it is ended.

A script has one step for each request: a text, a `turn(...)`, an `error(...)`, or a function of the request that returns
one (sync or async). Every request is held against the rules of the real service (`mock_messages.rules`); one that breaks
a rule is answered with 400, and leaving the context then raises BrokenRulesError.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from mock_messages.answers import (
    Gate,
    Part,
    Step,
    Turn,
    block,
    cut,
    cut_after,
    error,
    pause,
    ping,
    raw,
    redacted_thinking,
    repeat,
    stall,
    stream_error,
    text,
    thinking,
    tool_use,
    turn,
)
from mock_messages.cache import CacheUse
from mock_messages.server import Arrival, BrokenRulesError, MockMessagesApi, Request

__all__ = [
    "Arrival",
    "BrokenRulesError",
    "CacheUse",
    "Gate",
    "MockMessagesApi",
    "Part",
    "Request",
    "Step",
    "Turn",
    "block",
    "cut",
    "cut_after",
    "error",
    "pause",
    "ping",
    "raw",
    "redacted_thinking",
    "repeat",
    "stall",
    "stream_error",
    "text",
    "thinking",
    "tool_use",
    "turn",
]


def _steps(script: Path) -> list[Step]:
    return [
        step if isinstance(step, str) else turn(*(block(part) for part in step))
        for step in json.loads(script.read_text(encoding="utf-8"))
    ]


async def _serve(steps: list[Step]) -> None:
    async with MockMessagesApi(steps) as api:
        print("PORT", api.url.rsplit(":", 1)[1], flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(_steps(Path(sys.argv[1]))))
