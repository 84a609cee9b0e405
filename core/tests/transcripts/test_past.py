"""What a transcript tells of earlier points of its session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolpost import SessionError, text_of
from toolpost_core.transcripts.history import read
from toolpost_core.transcripts.kinds import REWIND
from toolpost_core.transcripts.past import before, prompts_in, turn_of
from toolpost_core.transcripts.transcript import Transcript


class File:
    """A transcript of three prompts, the second with a call."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "s.jsonl"
        self.transcript = Transcript(self.path, "s", "0", lambda text: pytest.fail(text))
        self.first = self.prompt("first")
        self.say("assistant", {"type": "text", "text": "One."})
        self.second = self.prompt("second", "told by a hook")
        self.say("assistant", {"type": "tool_use", "id": "t", "name": "Bash", "input": {}})
        self.result = self.say("user", {"type": "tool_result", "tool_use_id": "t", "content": "out"})
        self.say("assistant", {"type": "text", "text": "Two."})
        self.say("user", {"type": "text", "text": "A hook wants more."}, isMeta=True)
        self.third = self.prompt("third")
        self.say("assistant", {"type": "text", "text": "Three."})

    def say(self, role: str, *content: dict[str, Any], **extra: Any) -> str:
        message = {"id": self.transcript.parent, "role": role, "content": list(content)}
        return self.transcript.message(role, message, self.path.parent, **extra)

    def prompt(self, text: str, *told: str) -> str:
        blocks = [{"type": "text", "text": value} for value in (*told, text)]
        return self.say("user", *blocks, promptAt=len(told))

    def back_to_before(self, prompt: str) -> str:
        past = before(self.path, prompt)
        self.transcript.side(REWIND, messageId=past.prompt, leafUuid=past.leaf)
        self.transcript.parent = past.leaf
        return past.text

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def said(self) -> list[str]:
        return [text_of(message) for message in read(self.path).messages if text_of(message)]


@pytest.fixture
def file(tmp_path: Path) -> File:
    return File(tmp_path)


def test_prompts_are_told_from_results_and_from_what_the_program_put_in(file: File) -> None:
    assert [(sent.id, sent.text) for sent in prompts_in(file.records())] == [
        (file.first, "first"),
        (file.second, "second"),
        (file.third, "third"),
    ]


def test_in_the_files_of_other_programs_prompts_are_what_holds_no_result() -> None:
    def record(content: Any, **more: Any) -> dict[str, Any]:
        return {"type": "user", "uuid": str(content), "message": {"role": "user", "content": content}, **more}

    text = {"type": "text", "text": "seen"}
    records = [
        record("plain"),
        record([{"type": "text", "text": "context"}, text]),
        record([{"type": "tool_result", "tool_use_id": "t", "content": "x"}, text]),
        record("caveat", isMeta=True),
        record("of an agent", isSidechain=True),
        record("a summary", isCompactSummary=True),
        record([{"type": "text", "text": "[The user interrupted the turn here]"}]),
        {"type": "user", "uuid": "u", "message": "damaged"},
        {"type": "summary", "summary": "x"},
    ]
    assert [sent.text for sent in prompts_in(records)] == ["plain", "seen"]


def test_any_message_of_a_turn_stands_for_its_prompt(file: File) -> None:
    assert turn_of(file.records(), file.result) == file.second
    assert turn_of(file.records(), file.third) == file.third
    assert turn_of(file.records(), "unknown") is None


def test_the_conversation_before_a_prompt_ends_with_the_answer_before_it(file: File) -> None:
    past = before(file.path, file.third)

    assert (past.prompt, past.text) == (file.third, "third")
    assert [message["role"] for message in past.messages][-1] == "user", "what the program put in stays"
    assert before(file.path, file.result).text == "second"
    assert before(file.path, file.first).messages == ()
    assert before(file.path, file.first).leaf is None


def test_the_newest_branch_is_the_conversation(file: File) -> None:
    assert file.back_to_before(file.second) == "second"
    assert file.said() == ["first", "One."]
    other = file.prompt("other")
    assert file.said() == ["first", "One.", "other"]
    assert [sent.rewound for sent in prompts_in(file.records())] == [False, True, True, False]

    file.back_to_before(other)
    file.back_to_before(file.first)
    assert file.said() == []
    file.prompt("anew")
    assert file.said() == ["anew"]


def test_what_was_gone_back_from_is_not_there_to_be_gone_back_to(file: File) -> None:
    file.back_to_before(file.second)

    with pytest.raises(SessionError, match="went back to before it"):
        before(file.path, file.third)


def test_a_kill_at_any_byte_leaves_one_of_the_branches(file: File) -> None:
    file.back_to_before(file.third)
    file.prompt("other")
    whole = file.path.read_bytes()
    start = whole.rindex(b'{"type":"conversation-rewind"')
    seen = set()
    for cut in range(start, len(whole) + 1):
        file.path.write_bytes(whole[:cut])
        seen.add(file.said()[-1])

    assert seen == {"Three.", "A hook wants more.", "A hook wants more.\nother"}
