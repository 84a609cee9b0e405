"""The file: whole after each entry, without secrets, and read back as it was."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpost import InputDelta, ModelRequest, SessionError, SystemBlock, TextDelta, ToolUse
from toolpost_service_recorder.reading import Tape
from toolpost_service_recorder.requests import as_json, lengthened, shortened
from toolpost_service_recorder.values import encoded
from toolpost_service_recorder.writing import Writer

SECRET = "hunter2hunter2"


def redact(value: Any) -> Any:
    return json.loads(re.sub(SECRET, "[redacted]", json.dumps(value)))


def begun(folder: Path) -> Writer:
    return Writer(folder / "session.jsonl", {"session": "s"}, redact)


def piece(event: Any, answer: int = 1) -> dict[str, Any]:
    return {"e": "piece", "answer": answer, "event": encoded(event)}


def call(name: str, content: str = "done") -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": name, "content": content}
    return {"e": "call", "id": name, "name": "Bash", "input": {}, "end": {"$": "CallEnd", "block": block}}


def asked(*texts: str) -> ModelRequest:
    messages: Any = [{"role": "user", "content": text} for text in texts]
    return ModelRequest(model="m", messages=messages, system=[SystemBlock("Be kind.")])


def request(*texts: str) -> dict[str, Any]:
    return as_json(asked(*texts))


def kinds(path: Path) -> list[str]:
    return [entry.get("e", "header") for entry in map(json.loads, path.read_text().splitlines())]


def test_an_entry_is_in_the_file_at_once(tmp_path: Path) -> None:
    writer = begun(tmp_path)
    writer.put(call("t1"))

    assert kinds(writer.path) == ["header", "call"]


def test_a_secret_that_comes_in_pieces_is_in_no_piece(tmp_path: Path) -> None:
    writer = begun(tmp_path)
    for part in ("the word is hun", "ter2hun", "ter2, as", " said"):
        writer.put(piece(TextDelta(part)))
    for part in ('{"command": "echo hunter2', 'hunter2"}'):
        writer.put(piece(InputDelta(part)))
    writer.put(piece(ToolUse("t1", "Bash", {"command": f"echo {SECRET}"})))
    kept = writer.path.read_text()
    texts = [entry["event"].get("text", "") for entry in map(json.loads, kept.splitlines()) if entry.get("e")]

    assert "hunter2" not in kept
    assert "".join(texts) == "the word is [redacted], as said"


def test_pieces_without_a_secret_stay_as_they_came(tmp_path: Path) -> None:
    writer = begun(tmp_path)
    for part in ("one ", "two ", "three"):
        writer.put(piece(TextDelta(part)))
    writer.put({"e": "done", "answer": 1})

    assert [entry["event"]["text"] for entry in Tape.read(writer.path).turns[:3]] == ["one ", "two ", "three"]


def test_what_comes_while_a_text_is_incomplete_stays_behind_its_pieces(tmp_path: Path) -> None:
    writer = begun(tmp_path)
    writer.put(piece(TextDelta("one ")))
    writer.put(call("t1"))
    before = kinds(writer.path)
    writer.put(piece(TextDelta("two")))
    writer.put({"e": "done", "answer": 1})

    assert before == ["header"]
    assert kinds(writer.path) == ["header", "piece", "call", "piece", "done"]


def test_the_end_writes_what_waits(tmp_path: Path) -> None:
    writer = begun(tmp_path)
    writer.put(piece(TextDelta("hunter2hun")))
    writer.put(piece(TextDelta("ter2")))
    writer.close()

    assert kinds(writer.path) == ["header", "piece", "piece", "end"]
    assert "hunter2" not in writer.path.read_text()


def test_a_file_that_was_cut_at_any_byte_can_be_read(tmp_path: Path) -> None:
    writer = begun(tmp_path)
    writer.request({"e": "request", "number": 1}, asked("hi"))
    writer.put(piece(TextDelta("ä")))
    writer.put({"e": "done", "answer": 1})
    writer.put(call("t1", "long " * 20))
    writer.close()
    whole, header = writer.path.read_bytes(), len(writer.path.read_bytes().split(b"\n")[0])
    found = []
    for size in range(header, len(whole) + 1):
        writer.path.write_bytes(whole[:size])
        tape = Tape.read(writer.path)
        found.append(len(tape.turns))
        assert tape.whole == (size >= len(whole) - 1)

    assert found == sorted(found)
    assert found[-1] == 4


def test_a_line_in_the_middle_that_is_damaged_is_told(tmp_path: Path) -> None:
    writer = begun(tmp_path)
    writer.put(call("t1"))
    writer.close()
    lines = writer.path.read_text().splitlines()
    writer.path.write_text("\n".join([lines[0], lines[1][:-5], *lines[2:]]) + "\n")

    with pytest.raises(SessionError, match=r"line 2, is no JSON"):
        Tape.read(writer.path)


def test_a_file_of_a_later_form_is_told(tmp_path: Path) -> None:
    path = tmp_path / "later.jsonl"
    path.write_text('{"recording": 3}\n')

    with pytest.raises(SessionError, match="has the form 3, not 2"):
        Tape.read(path)


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    assert begun(tmp_path).path.stat().st_mode & 0o077 == 0


def test_a_request_has_what_is_new_of_it_only(tmp_path: Path) -> None:
    writer = begun(tmp_path)
    for number, texts in enumerate((("a",), ("a", "b"), ("a", "c", "d")), 1):
        writer.request({"e": "request", "number": number}, asked(*texts))
    short = [entry["request"] for entry in map(json.loads, writer.path.read_text().splitlines()[1:])]

    assert [len(one["messages"]) for one in short] == [1, 1, 2]
    assert ["system" in one for one in short] == [True, False, False]
    assert [entry["request"] for entry in Tape.read(writer.path).turns] == [
        request("a"),
        request("a", "b"),
        request("a", "c", "d"),
    ]


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=5), min_size=1, max_size=8))
def test_requests_come_back_from_what_is_new_of_them(conversations: list[list[str]]) -> None:
    last: Any = {}
    read: Any = {}
    for texts in conversations:
        whole = request(*texts)
        read = lengthened(shortened(whole, last), read)
        last = whole
        assert read == whole


def test_a_disk_that_is_full_ends_the_recording_and_is_told(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs /dev/full")
    writer = Writer(full, {}, redact)
    writer.put(call("t1"))

    assert writer.problem is not None
    assert "ends here" in writer.problem
