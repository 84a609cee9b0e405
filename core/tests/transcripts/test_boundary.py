"""After a compaction a session goes on from its boundary, with the same bytes whether it was resumed or not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolpost import Message
from toolpost_core.loop.messages import joined
from toolpost_core.transcripts.history import read
from toolpost_core.transcripts.kinds import REWIND, TITLE
from toolpost_core.transcripts.past import before, prompts_in
from toolpost_core.transcripts.reading import records_of
from toolpost_core.transcripts.transcript import Transcript


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def said(role: Any, *blocks: dict[str, Any]) -> Message:
    return {"role": role, "content": list(blocks)}


CALL = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls", "a": {"z": 1, "b": 2}}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "out é🦀 \ud83d"}
KEPT = (said("assistant", CALL), said("user", RESULT))


class Sitting:
    """A transcript and the conversation as a session has it in memory."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "s.jsonl"
        self.folder = folder
        self.transcript = Transcript(self.path, "s", "0", pytest.fail)
        self.messages: tuple[Message, ...] = ()

    def add(self, message: Message, **extra: Any) -> str:
        self.messages = joined(self.messages, message)
        return self.transcript.message(message["role"], message, self.folder, **extra)

    def prompt(self, value: str) -> str:
        return self.add(said("user", text(value)), promptAt=0)

    def compact(self, *messages: Message, kept: int = 0) -> None:
        self.messages = self.transcript.boundary(messages, self.folder, kept=kept)

    def reopen(self) -> None:
        self.transcript.close()
        history = read(self.path)
        self.transcript = Transcript(self.path, "s", "0", pytest.fail, history.leaf, states=history.states)
        self.transcript.lock()
        self.messages = history.messages


@pytest.fixture
def sitting(tmp_path: Path) -> Sitting:
    """Three prompts with answers, and a compaction behind the second."""
    sitting = Sitting(tmp_path)
    sitting.prompt("one")
    sitting.add(said("assistant", text("One.")))
    sitting.prompt("two")
    for message in KEPT:
        sitting.add(message)
    sitting.compact(said("user", text("What was said: one.")), *KEPT, kept=2)
    sitting.add(said("user", text("told after it")), isMeta=True)
    sitting.add(said("assistant", text("Two.")))
    sitting.prompt("three")
    sitting.add(said("assistant", text("Three.")))
    return sitting


def test_a_resume_reads_the_messages_that_were_sent(sitting: Sitting) -> None:
    live = sitting.messages
    sitting.reopen()

    assert json.dumps(sitting.messages) == json.dumps(live)
    assert live[0] == said("user", text("What was said: one."))
    assert live[2]["content"] == [RESULT, text("told after it")]


def test_only_the_end_is_read(sitting: Sitting) -> None:
    sitting.transcript.close()
    history = read(sitting.path)
    data = sitting.path.read_bytes()

    assert data[history.begin :].startswith(b'{"type":"system"')
    assert (data[: history.begin].count(b"\n"), history.warnings) == (5, ())
    sitting.path.write_bytes(b"x" * (history.begin - 1) + b"\n" + data[history.begin :])
    assert read(sitting.path).messages == history.messages


def test_prompts_of_before_it_are_still_known_and_can_be_gone_back_to(sitting: Sitting) -> None:
    prompts = prompts_in(records_of(sitting.path))
    assert [(prompt.text, prompt.rewound) for prompt in prompts] == [("one", False), ("two", False), ("three", False)]

    past = before(sitting.path, prompts[1].id)
    assert past.messages == (said("user", text("one")), said("assistant", text("One.")))
    sitting.transcript.side(REWIND, messageId=past.prompt, leafUuid=past.leaf)
    sitting.transcript.parent, sitting.messages = past.leaf, past.messages
    sitting.reopen()
    assert sitting.messages == past.messages
    sitting.prompt("other")
    live = sitting.messages
    sitting.reopen()
    assert sitting.messages == live


def test_it_counts_only_where_it_is_all_there(sitting: Sitting) -> None:
    sitting.transcript.close()
    data = sitting.path.read_bytes()
    begin = read(sitting.path).begin
    lines = data[begin:].splitlines(keepends=True)
    end = begin + sum(map(len, lines[:4]))
    for cut in range(begin, end + 1):
        sitting.path.write_bytes(data[:cut])
        messages = read(sitting.path).messages
        if cut >= end - 1:  # the last line is whole without its end as well
            assert messages[0] == said("user", text("What was said: one."))
        else:
            assert messages[0]["content"] == [text("one")]
            assert len(messages) == 5


def test_what_is_so_is_known_after_it(sitting: Sitting) -> None:
    sitting.transcript.state(TITLE, customTitle="The title")
    sitting.compact(said("user", text("All.")))
    sitting.add(said("assistant", text("Well.")))
    sitting.transcript.close()

    assert read(sitting.path).title == "The title"


def test_what_an_answer_was_cut_off_from_is_not_part_of_it(sitting: Sitting) -> None:
    before = sitting.messages
    gone = [
        sitting.add(said("assistant", CALL | {"id": "t9"})),
        sitting.add(said("user", RESULT | {"tool_use_id": "t9"})),
    ]
    sitting.transcript.discard(gone)
    sitting.messages = before
    sitting.reopen()
    assert sitting.messages == before

    sitting.prompt("go on")
    sitting.add(said("assistant", text("Here.")))
    live = sitting.messages
    sitting.reopen()
    assert sitting.messages == live


def test_what_waits_in_the_queue_comes_back(sitting: Sitting) -> None:
    for item in ("a", "b", "c"):
        sitting.transcript.side("queue-operation", operation="enqueue", queuedId=item, content=f"text {item}")
    sitting.transcript.side("queue-operation", operation="dequeue", queuedId="b")
    sitting.transcript.close()

    assert [item["content"] for item in read(sitting.path).queued] == ["text a", "text c"]


STEPS = st.lists(st.sampled_from(["prompt", "answer", "call", "compact", "reopen", "told", "rewind"]), max_size=25)


@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_whatever_happens_a_resume_has_the_bytes_of_the_session_that_went_on(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    sitting = Sitting(tmp_path_factory.mktemp("t"))
    sitting.prompt("begin")
    for number, step in enumerate(steps):
        _take(sitting, step, number)
        live = json.dumps(sitting.messages)
        assert json.dumps(read(sitting.path).messages) == live


def _take(sitting: Sitting, step: str, number: int) -> None:
    match step:
        case "prompt":
            sitting.prompt(f"prompt {number}")
        case "told":
            sitting.add(said("user", text(f"told {number}")), isMeta=True)
        case "answer":
            sitting.add(said("assistant", text(f"answer {number}")))
        case "call":
            sitting.add(said("assistant", CALL | {"id": f"t{number}"}))
            sitting.add(said("user", RESULT | {"tool_use_id": f"t{number}"}))
        case "compact":
            kept = sitting.messages[-3:]
            sitting.compact(said("user", text(f"summary {number}")), *kept, kept=len(kept))
        case "reopen":
            sitting.reopen()
        case "rewind":
            prompts = [prompt for prompt in prompts_in(records_of(sitting.path)) if not prompt.rewound]
            if len(prompts) > 1:
                past = before(sitting.path, prompts[len(prompts) // 2].id)
                sitting.transcript.side(REWIND, messageId=past.prompt, leafUuid=past.leaf)
                sitting.transcript.parent, sitting.messages = past.leaf, past.messages


@pytest.mark.parametrize("chunk", [1, 7, 31, 32, 33, 64, 500])
def test_it_is_found_wherever_reading_begins(sitting: Sitting, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    sitting.add(said("user", text('the mark "subtype":"compact_boundary" in a text')))
    sitting.transcript.close()
    begin = read(sitting.path).begin
    monkeypatch.setattr("toolpost_core.transcripts.reading.CHUNK", chunk)

    assert begin > 0
    assert read(sitting.path).begin == begin


def test_one_before_what_may_be_read_is_not_looked_for(sitting: Sitting) -> None:
    live = sitting.messages
    sitting.transcript.close()
    history = read(sitting.path)
    assert read(sitting.path, guard=history.end - history.begin).messages == live
    short = read(sitting.path, guard=history.end - history.begin - 1)
    assert short.begin > history.begin
    assert short.messages[-1] == live[-1]
