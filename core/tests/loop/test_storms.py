"""Random answers, failures and aborts: what must hold of a conversation holds of every one."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fake_session import fake_session, of_type, result_of, run
from hypothesis import given, settings
from hypothesis import strategies as st

from toolpost import (
    Block,
    Message,
    Progress,
    ProviderError,
    Stop,
    Tool,
    ToolContext,
    ToolFailed,
    ToolResult,
    ToolStarted,
    ToolUse,
)
from toolpost.testing import FakeModel
from toolpost_core.loop.messages import call_ids
from toolpost_core.loop.state import StopReason
from toolpost_core.transcripts.history import read


class Acts(Tool[dict[str, Any]]):
    """Does what its input says."""

    name = "Acts"
    input_schema = {"type": "object", "properties": {"do": {"type": "string"}}, "required": ["do"]}
    aborts_siblings = True

    def is_concurrency_safe(self, input: dict[str, Any]) -> bool:
        return bool(input["do"] != "alone")

    async def call(self, input: dict[str, Any], ctx: ToolContext, progress: Progress) -> ToolResult:
        match input["do"]:
            case "fail":
                raise ToolFailed("no")
            case "exit":
                raise SystemExit(1)
            case "hang":
                async with asyncio.timeout(0.002):
                    await ctx.abort.wait()
            case "deaf":
                await asyncio.sleep(0.001)
            case "large":
                return ToolResult("x" * 70_000)
            case "empty":
                return ToolResult("")
            case "loads":
                return ToolResult("ok", new_messages=[{"role": "user", "content": [{"type": "text", "text": "more"}]}])
        return ToolResult(f"did {input['do']}")


DEEDS = ("quick", "alone", "fail", "exit", "hang", "deaf", "large", "empty", "loads")
calls = st.builds(
    ToolUse,
    st.sampled_from(["t1", "t2", "t3", "t4", "t5", "t6"]),
    st.sampled_from(["Acts", "Acts", "Acts", "Nobody"]),
    st.one_of(st.sampled_from(DEEDS).map(lambda deed: {"do": deed}), st.just({})),
    st.sampled_from([None, None, None, "[1"]),
)
thought = Block({"type": "thinking", "thinking": "hm", "signature": "s"})
STOP_REASONS = ("end_turn", "max_tokens", "pause_turn", "refusal", "model_context_window_exceeded", "something_new")
ends = st.sampled_from(
    [
        ProviderError("cut"),
        ProviderError("cut", retriable=True, retry_after=0.0),
        ProviderError("busy", kind="overloaded", retriable=True, retry_after=0.0),
        ProviderError("bad", kind="invalid_block", message_index=0, content_index=0),
        KeyError("bug"),
        *(Stop(reason) for reason in STOP_REASONS),
    ]
)
answers = st.tuples(
    st.lists(st.one_of(calls, st.sampled_from(["text", " ", thought])), max_size=6), st.one_of(st.none(), ends)
).map(lambda parts: [*parts[0], *([parts[1]] if parts[1] is not None else [])])


@pytest.mark.requirement("executor.one_result_a_call")
@pytest.mark.requirement("loop.named_ends")
@pytest.mark.requirement("loop.no_call_twice")
@settings(max_examples=120, deadline=None)
@given(st.lists(answers, max_size=5), st.one_of(st.none(), st.integers(1, 25)))
def test_whatever_happens_the_conversation_is_sound_and_the_file_has_it_as_it_was_sent(
    turns: list[Any], abort_after: int | None
) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        asyncio.run(storm(folder, turns, abort_after))
    finally:
        shutil.rmtree(folder)


async def storm(folder: Path, turns: list[Any], abort_after: int | None) -> None:
    model = FakeModel(*turns, "calm", "calm", "calm")
    async with asyncio.timeout(60), fake_session(folder, model, Acts(), max_turns=8, fallback_model="other") as session:
        events = []
        async for event in session.submit("first"):
            events.append(event)
            if len(events) == abort_after:
                session.interrupt()
        ended = result_of(events)
        more = await run(session, "second")
        after = result_of(more)
        path, said = session.transcript_path, session.messages

    assert ended.terminal_reason in set(StopReason)
    assert after.terminal_reason in set(StopReason)
    for request in model.requests:
        sound(request.messages)
    assert path is not None
    sound([*said, {"role": "user", "content": [{"type": "text", "text": "x"}]}] if ends_in_answer(said) else said)
    assert list(read(path).messages) == list(said)
    ran = [event.tool_use_id for event in of_type([*events, *more], ToolStarted)]
    assert len(ran) == len(set(ran))
    assert set(ran) <= call_ids(said), "what ran is in the conversation"


def ends_in_answer(messages: Sequence[Message]) -> bool:
    return bool(messages) and messages[-1]["role"] == "assistant"


def sound(messages: Sequence[Message]) -> None:
    """The service would take these messages."""
    assert [m["role"] for m in messages] == [("user", "assistant")[n % 2] for n in range(len(messages))]
    open_calls: list[str] = []
    seen: list[str] = []
    for message in messages:
        blocks: Any = message["content"]
        assert blocks
        kinds = [block["type"] for block in blocks]
        assert [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"] == open_calls
        assert "tool_result" not in kinds[len(open_calls) :]
        assert all(b["text"].strip() for b in blocks if b["type"] == "text")
        assert kinds[-1] != "thinking"
        open_calls = [b["id"] for b in blocks if b["type"] == "tool_use"]
        seen += open_calls
    assert len(seen) == len(set(seen))
    assert open_calls == []
