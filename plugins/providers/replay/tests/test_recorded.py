from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from toolpost import (
    Block,
    MessageStart,
    ModelRequest,
    PromptTooLong,
    Provider,
    ProviderError,
    Stop,
    StreamEvent,
    TextDelta,
    ToolUse,
    Usage,
)
from toolpost_provider_replay import Recorded, Replay

ANSWER: list[StreamEvent] = [
    MessageStart("m", "big", Usage(5, 1)),
    TextDelta("half \ud83d"),
    Block({"type": "thinking", "thinking": "é", "signature": "s"}),
    ToolUse("t", "Bash", {}, raw="[1"),
    Stop("tool_use", Usage(5, 9, 1, 2, 3)),
]


class Scripted(Provider):
    fails: bool = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        for event in ANSWER:
            yield event
            if self.fails:
                raise PromptTooLong("too long", tokens_over=7, status=400)


def request() -> ModelRequest:
    return ModelRequest(model="m", messages=[{"role": "user", "content": "Go"}])


async def ask(provider: Provider, asked: ModelRequest | None = None) -> list[StreamEvent]:
    return [event async for event in provider.stream(asked or request())]


async def test_what_is_recorded_plays_the_same(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    recorded = Recorded(Scripted(), path)
    assert await ask(recorded) == ANSWER
    assert await ask(recorded) == ANSWER
    asked = request()
    played = [await ask(Replay(cassette=path, speed=0), asked) for _ in range(2)]
    assert played == [ANSWER, ANSWER]
    assert len(path.read_text().splitlines()) == 3


async def test_an_error_is_recorded_and_raised_again(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    with pytest.raises(PromptTooLong):
        await ask(Recorded(Scripted(fails=True), path))
    with pytest.raises(PromptTooLong, match="too long") as caught:
        await ask(Replay(cassette=path, speed=0))
    assert (caught.value.tokens_over, caught.value.status) == (7, 400)


async def test_an_answer_that_is_called_off_is_kept_as_far_as_it_came(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    stream: Any = Recorded(Scripted(), path).stream(request())
    await anext(stream)
    await stream.aclose()
    assert [event["event"] for event in json.loads(path.read_text().splitlines()[1])["events"]] == ["MessageStart"]


@pytest.mark.parametrize("text", ["my thesis\n", '{"cassette": 9}\n', '{"other": 1}\n'])
async def test_a_file_that_is_no_cassette_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tape.jsonl"
    path.write_text(text)
    with pytest.raises(ProviderError, match="It was left as it is"):
        await ask(Recorded(Scripted(), path))
    assert path.read_text() == text


@pytest.mark.parametrize("end", ["", "\n", '\n{"say": "x"}', '\n{"say": "x"}\n{"events": [{"ev'])
async def test_a_recording_that_was_cut_off_is_gone_on_with(tmp_path: Path, end: str) -> None:
    path = tmp_path / "tape.jsonl"
    path.write_text('{"cassette": 1}' + end)
    await ask(Recorded(Scripted(), path))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0] == {"cassette": 1}
    assert lines[-1]["events"][-1]["event"] == "Stop"
    assert len(lines) == (3 if "say" in end else 2)


async def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="can't be written"):
        await ask(Recorded(Scripted(), tmp_path / "no" / "tape.jsonl"))


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX limits of a process")
async def test_a_line_that_can_not_be_written_whole_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import resource
    import signal

    path = tmp_path / "tape.jsonl"
    await ask(Recorded(Scripted(), path))
    before = path.read_bytes()
    # The limit would cut off what Python keeps of a module that it imports meanwhile.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, hard))
    try:
        with pytest.raises(ProviderError, match="can't be written"):
            await ask(Recorded(Scripted(), path))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    assert os.access(path, os.W_OK)
