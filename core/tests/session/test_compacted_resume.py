"""A session that compacts itself sends the same bytes whether it was ended and resumed in between or not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from fake_session import fake_session, run

from toolpost import CompactionResult, CompactionStrategy, Context, ToolUse, tool
from toolpost.testing import FakeModel
from toolpost_core.transcripts.history import read
from toolpost_core.transcripts.past import prompts_in
from toolpost_core.transcripts.reading import records_of


@tool(read_only=True, concurrency_safe=True)
async def echo(text: str) -> str:
    """Say it."""
    return text


class Short(CompactionStrategy):
    """Keeps the last prompt's turn once there are more than six messages."""

    def applies(self, context: Context) -> float:
        return float(len(context.messages) > 6)

    async def compact(self, context: Context) -> CompactionResult | None:
        kept = context.last_turns(1)
        told = f"[{len(context.messages) - len(kept)} messages were left out]"
        return context.result(context.begun_with(told, len(context.messages) - len(kept)), told)


TURNS: list[Any] = [
    item
    for number in range(8)
    for item in ([ToolUse(f"t{number}", "echo", {"text": f"é {number}"})], f"Said {number}.")
]


async def sent(folder: Path, *, resumed: bool) -> list[str]:
    """Send eight prompts, in one sitting or in one each; return the messages of every request."""
    folder.mkdir()
    requests: list[str] = []
    path: Path | None = None
    models = [FakeModel(*TURNS[n * 2 : n * 2 + 2]) for n in range(8)] if resumed else [FakeModel(*TURNS)]
    for sitting, model in enumerate(models):
        async with fake_session(folder, model, echo, Short(), resume=path) as session:
            for number in (sitting,) if resumed else range(8):
                await run(session, f"prompt {number}")
            path = session.transcript_path
        requests += [json.dumps(list(request.messages)) for request in model.requests]
    assert path is not None
    return requests


async def test_what_is_sent_does_not_depend_on_where_a_session_was_ended(tmp_path: Path) -> None:
    at_once = await sent(tmp_path / "a", resumed=False)
    in_parts = await sent(tmp_path / "b", resumed=True)

    assert in_parts == at_once
    assert any("messages were left out" in request for request in at_once)


async def test_cut_at_the_end_of_any_record_it_resumes_with_pairs_and_prompts_intact(tmp_path: Path) -> None:
    await sent(tmp_path / "a", resumed=False)
    (path,) = (tmp_path / "a" / "state").glob("projects/*/*.jsonl")
    data = path.read_bytes()
    ends = [index + 1 for index, byte in enumerate(data) if byte == 10]
    for end in ends[::-1]:
        os.truncate(path, end)
        messages: Any = read(path).messages
        calls = [block["id"] for message in messages for block in message["content"] if block["type"] == "tool_use"]
        results = [
            block["tool_use_id"]
            for message in messages
            for block in message["content"]
            if block["type"] == "tool_result"
        ]
        assert calls == results
        assert [message["role"] for message in messages] == [("user", "assistant")[n % 2] for n in range(len(messages))]
        prompts = [prompt.text for prompt in prompts_in(records_of(path))]
        assert prompts == [f"prompt {number}" for number in range(len(prompts))]
        assert prompts[-1] in json.dumps(messages)
