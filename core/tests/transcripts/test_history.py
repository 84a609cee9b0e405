from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolpost import Message, SessionError
from toolpost_core.transcripts.history import MOST_NAMED, read
from toolpost_core.transcripts.mending import repaired
from toolpost_core.transcripts.transcript import Transcript


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def use(name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "Bash", "input": {}}


def result(name: str, value: str = "out") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": value}


def user(*blocks: Mapping[str, Any]) -> Message:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Mapping[str, Any]) -> Message:
    return {"role": "assistant", "content": list(blocks)}


def sound(messages: Sequence[Message]) -> None:
    """The service would take these messages with a prompt behind them."""
    assert [m["role"] for m in messages] == [("user", "assistant")[n % 2] for n in range(len(messages))]
    open_calls: list[str] = []
    for message in messages:
        blocks: Any = message["content"]
        assert blocks
        assert [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"] == open_calls
        first_text = next((n for n, b in enumerate(blocks) if b["type"] != "tool_result"), len(blocks))
        assert all(b["type"] != "tool_result" for b in blocks[first_text:])
        assert blocks[-1]["type"] not in ("thinking", "redacted_thinking")
        assert all(b["text"].strip() for b in blocks if b["type"] == "text")
        open_calls = [b["id"] for b in blocks if b["type"] == "tool_use"]
    assert open_calls == []


class File:
    """A transcript that a test writes record by record."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "s.jsonl"
        self.transcript = Transcript(self.path, "s", "0", lambda text: pytest.fail(text))

    def prompt(self, value: str) -> None:
        self.transcript.message("user", user(text(value)), Path("/p"))

    def answer(self, message_id: str, *blocks: Mapping[str, Any]) -> None:
        for block in blocks:
            self.transcript.message("assistant", {"id": message_id, **assistant(block)}, Path("/p"))

    def results(self, *names: str) -> None:
        for name in names:
            self.transcript.message("user", user(result(name)), Path("/p"))

    def lines(self) -> list[bytes]:
        self.transcript.close()
        return self.path.read_bytes().splitlines(keepends=True)


@pytest.fixture
def file(tmp_path: Path) -> File:
    """Three turns: a plain one, one with three parallel calls whose results came while the answer went on, and a last."""
    file = File(tmp_path)
    file.prompt("one")
    file.answer("m1", text("Hello é🦀"))
    file.prompt("two")
    file.answer("m2", text("Looking"), use("t1"))
    file.results("t1")
    file.transcript.side("permission-decision", toolUseId="t2", decision="allow")
    file.answer("m2", use("t2"), use("t3"))
    file.results("t3", "t2")
    file.answer("m3", text("Done"))
    file.prompt("three")
    file.answer("m4", text("Bye"))
    return file


def test_a_whole_file_gives_the_conversation_as_it_was_sent(file: File) -> None:
    file.transcript.close()
    history = read(file.path)

    assert history.warnings == ()
    assert history.messages == (
        user(text("one")),
        assistant(text("Hello é🦀")),
        user(text("two")),
        assistant(text("Looking"), use("t1"), use("t2"), use("t3")),
        user(result("t1"), result("t2"), result("t3")),
        assistant(text("Done")),
        user(text("three")),
        assistant(text("Bye")),
    )
    assert (history.session_id, history.cwd) == ("s", Path("/p"))


@pytest.mark.requirement("transcript.survives_a_kill")
def test_cut_at_any_byte_it_loads_with_every_whole_record_and_its_pairs_intact(file: File) -> None:
    data = b"".join(file.lines())
    first = data.index(b"\n") + 1
    for end in range(first, len(data) + 1):
        file.path.write_bytes(data[:end])
        history = read(file.path)
        sound(history.messages)
        whole = [json.loads(line) for line in data[:end].split(b"\n") if _is_json(line)]
        kept = str(history.messages)
        for record in whole:
            for block in record.get("message", {}).get("content", []):
                assert block.get("id", block.get("text", block.get("tool_use_id"))) in kept
        assert bool(history.warnings) == (not _is_json(data[:end].rpartition(b"\n")[2] or b"{}"))


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def test_a_file_whose_first_record_is_cut_says_that_it_holds_nothing(file: File) -> None:
    data = b"".join(file.lines())
    for end in range(1, data.index(b"\n") - 1, 7):
        file.path.write_bytes(data[:end])
        with pytest.raises(SessionError, match="holds no conversation"):
            read(file.path)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_whichever_records_are_lost_or_doubled_what_is_loaded_is_sound(
    tmp_path_factory: Any, data: st.DataObject
) -> None:
    file = File(tmp_path_factory.mktemp("t"))
    file.prompt("one")
    file.answer("m1", {"type": "thinking", "thinking": "hm", "signature": "x"}, text("a"), use("t1"), use("t2"))
    file.results("t2", "t1")
    file.answer("m2", {"type": "thinking", "thinking": "hm", "signature": "x"}, use("t3"))
    file.results("t3")
    file.answer("m3", text("b"))
    file.prompt("two")
    lines = file.lines()
    picked = data.draw(st.lists(st.integers(0, len(lines) - 1), min_size=1, max_size=14))
    chosen = picked if data.draw(st.booleans()) else sorted(set(picked))
    file.path.write_bytes(b"".join(lines[n] for n in chosen))

    sound(read(file.path).messages)


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b"[1]",
        b"null",
        b"\xff\xfe",
        b'{"type":"user"}',
        b'{"type":"user","message":3}',
        b'{"type":"user","message":' + b"[" * 100_000,
        b'{"type":"user","uuid":["u"],"parentUuid":{"p":1},"message":{"role":"user","content":[]}}',
    ],
)
def test_a_damaged_line_in_the_middle_costs_only_itself(file: File, line: bytes) -> None:
    lines = file.lines()
    lines[5] = line + b"\n"
    file.path.write_bytes(b"".join(lines))
    history = read(file.path)

    sound(history.messages)
    assert "Bye" in str(history.messages)
    assert "one" in str(history.messages[0])


def test_of_many_damaged_lines_some_are_named_and_the_others_are_counted(file: File) -> None:
    lines = file.lines()
    file.path.write_bytes(b"".join([*lines, b'{"type":\n' * 1_000]))
    *named, counted = read(file.path).warnings

    assert len(named) == MOST_NAMED
    assert f"{1_000 - MOST_NAMED:,} more" in counted


def test_an_editor_that_saved_the_file_costs_nothing(file: File) -> None:
    as_it_was = b"".join(file.lines())
    before = read(file.path).messages
    file.path.write_bytes(b"\xef\xbb\xbf" + as_it_was.replace(b"\n", b"\r\n"))

    assert (read(file.path).messages, read(file.path).warnings) == (before, ())


@pytest.mark.parametrize(
    "content",
    [
        None,
        3,
        {"a": 1},
        [None, 3, "x"],
        [{"no": "type"}],
        [{"type": None}],
        "",
        [],
        [{"type": "text"}],
        [text("")],
        [{"type": "text", "text": 5}],
        [{"type": "tool_use"}],
        [{"type": "tool_use", "id": "t8", "name": "Bash"}],
        [{"type": "tool_result"}],
    ],
)
def test_content_of_an_odd_shape_costs_only_itself(file: File, content: object) -> None:
    file.transcript.message("user", {"role": "user", "content": content}, Path("/p"))
    file.transcript.message("assistant", {"id": "m9", "role": "assistant", "content": content}, Path("/p"))
    file.answer("m10", text("end"))
    file.transcript.close()

    messages = read(file.path).messages
    sound(messages)
    assert "end" in str(messages[-1])
    assert all(text in str(messages) for text in ("one", "Bye"))


def test_a_result_whose_call_was_lost_is_dropped_and_the_other_pairs_stay(file: File) -> None:
    lines = [line for line in file.lines() if b'"id":"t2"' not in line]
    file.path.write_bytes(b"".join(lines))
    messages = read(file.path).messages

    sound(messages)
    assert [b["tool_use_id"] for b in messages[4]["content"]] == ["t1", "t3"]  # type: ignore[index, typeddict-item]


def test_a_call_without_a_result_is_answered_as_interrupted(tmp_path: Path) -> None:
    file = File(tmp_path)
    file.prompt("one")
    file.answer("m1", use("t1"), use("t2"))
    file.results("t1")
    file.transcript.close()
    answered: Any = read(file.path).messages[-1]["content"]

    assert answered[0] == result("t1")
    assert answered[1]["is_error"]
    assert "interrupted" in answered[1]["content"]


def test_answers_with_the_same_id_in_different_turns_stay_apart(tmp_path: Path) -> None:
    file = File(tmp_path)
    for prompt in ("one", "two"):
        file.prompt(prompt)
        file.answer("always-the-same", text(f"re {prompt}"))
    file.transcript.close()

    assert [m["content"][0]["text"] for m in read(file.path).messages] == ["one", "re one", "two", "re two"]  # type: ignore[index, typeddict-item]


def test_lone_surrogates_come_back_as_they_were_written(tmp_path: Path) -> None:
    file = File(tmp_path)
    file.prompt("a \ud83d b")
    file.transcript.close()

    assert read(file.path).messages == (user(text("a \ud83d b")),)
    file.path.read_text(encoding="utf-8")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match=r"s\.jsonl"):
        read(tmp_path / "s.jsonl")
    with pytest.raises(SessionError, match=tmp_path.name):
        read(tmp_path)


blocks = st.one_of(
    st.sampled_from([text("a"), text(""), {"type": "thinking", "thinking": "t", "signature": "s"}]),
    st.sampled_from(["t1", "t2", "t3"]).map(use),
    st.sampled_from(["t1", "t2", "t3"]).map(result),
)


@settings(max_examples=500)
@given(st.lists(st.tuples(st.booleans(), st.lists(blocks, max_size=4)), max_size=8))
def test_whatever_the_messages_they_are_repaired_to_what_the_service_takes(
    rows: list[tuple[bool, list[dict[str, Any]]]],
) -> None:
    allowed = {True: ("text", "tool_result"), False: ("text", "tool_use", "thinking")}
    messages = [
        (user if is_user else assistant)(*[b for b in content if b["type"] in allowed[is_user]])
        for is_user, content in rows
    ]
    once = repaired(messages)

    sound(once)
    ids = [b["id"] for m in once for b in m["content"] if b["type"] == "tool_use"]  # type: ignore[index, typeddict-item]
    assert len(ids) == len(set(ids))
    assert repaired(once) == once
