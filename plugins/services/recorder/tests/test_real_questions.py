"""A real call that waits for a recorded answer is not at work: where the answer will not come, it is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import cast

from toolpost import AbortReason, CallEnd, Inbox, Question, Reply, ToolUse
from toolpost_service_recorder.inboxes import SilentInbox
from toolpost_service_recorder.recorder import FileRecorder

ENTRIES: Sequence[object] = (
    {"recording": 2},
    {"e": "count", "tokens": 1},
    {"e": "reply", "in": "t1", "reply": {"$": "Reply", "allow": True}},
)


async def nobody(question: Question) -> Reply:
    raise AssertionError(question)


async def test_a_call_that_waits_for_an_answer_which_is_not_next_misses(tmp_path: Path) -> None:
    file, ended = tmp_path / "session.jsonl", list[AbortReason]()
    file.write_text("".join(json.dumps(entry) + "\n" for entry in ENTRIES))
    replay = FileRecorder().replay(file, {}, lambda value: value, real_tools=True, stall=0.01)
    replay.begin(lambda event: None, ended.append, cast("Inbox", SilentInbox()))

    async def asks() -> CallEnd:
        reply = await replay.ask(cast("Question", SimpleNamespace(details="rm")), nobody)
        return CallEnd(block={"type": "tool_result", "tool_use_id": "t1", "content": str(reply.allow)})

    async with asyncio.timeout(30):
        await replay.call(ToolUse("t1", "Bash", {}), asks)

    assert ended == ["engine_stop"]
    assert replay.miss == (
        "The recording has a count of tokens next. The session waits for a person's answer in the call t1."
    )
