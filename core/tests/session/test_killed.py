"""A process that is killed at any moment leaves a session that can be resumed."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_session import fake_session, result_of, run

from toolpost import tool
from toolpost.testing import FakeModel

PROGRAM = """
import asyncio, sys
from pathlib import Path
from fake_session import fake_session
from toolpost import ToolUse, UserMessage, tool
from toolpost.testing import FakeModel

@tool(read_only=True, concurrency_safe=True)
async def echo(text: str) -> str:
    "Say it."
    await asyncio.sleep(0)
    return text

async def main() -> None:
    def use(turn: int, number: int) -> ToolUse:
        return ToolUse(f"t{turn}_{number}", "echo", {"text": f"result {turn} {number}"})

    turns = [[f"turn {n}", *(use(n, i) for i in range(3))] for n in range(300)]
    async with fake_session(Path(sys.argv[1]), FakeModel(*turns), echo) as session:
        print(session.transcript_path, flush=True)
        async for event in session.submit("the prompt"):
            if isinstance(event, UserMessage):
                print(event.message["content"][0]["content"], flush=True)

asyncio.run(main())
"""


@tool(read_only=True, concurrency_safe=True)
async def echo(text: str) -> str:
    """Say it."""
    return text


@pytest.mark.requirement("transcript.survives_a_kill")
@pytest.mark.parametrize("seed", range(5))
async def test_a_killed_session_resumes_with_every_result_that_was_told_and_its_pairs_intact(
    tmp_path: Path, seed: int
) -> None:
    path, told = killed_after(tmp_path, random.Random(seed).randrange(1, 120))
    model = FakeModel("Back.")
    async with fake_session(tmp_path, model, echo, resume=path) as session:
        assert result_of(await run(session, "go on")).text == "Back."
    async with fake_session(tmp_path, FakeModel("Still."), echo, resume=path) as session:
        assert result_of(await run(session, "and on")).text == "Still."

    messages: Any = model.requests[0].messages
    results = {b["tool_use_id"]: b for m in messages for b in m["content"] if b["type"] == "tool_result"}
    calls = [b["id"] for m in messages for b in m["content"] if b["type"] == "tool_use"]
    assert list(results) == calls
    assert set(told) <= {block["content"] for block in results.values()}
    assert [m["role"] for m in messages] == [("user", "assistant")[n % 2] for n in range(len(messages))]
    assert "the prompt" in str(messages[0])


def killed_after(tmp_path: Path, lines: int) -> tuple[Path, list[str]]:
    """Run the program, kill it once it has told so many results; return its file and what it told."""
    support = str(Path(sys.modules["fake_session"].__file__ or "").parent)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": support},
    )
    assert process.stdout is not None
    path = Path(process.stdout.readline().strip())
    told = [process.stdout.readline().strip() for _ in range(lines)]
    process.kill()
    rest, _ = process.communicate()
    whole = [line for line in rest.splitlines(keepends=True) if line.endswith("\n")]
    assert all(told), "it ended before it was killed"
    assert all(_is_record(line) for line in path.read_bytes().splitlines()[:-1])
    return path, [*told, *map(str.strip, whole)]


def _is_record(line: bytes) -> bool:
    return isinstance(json.loads(line), dict)
