"""Going on with a transcript in which something stands that is no record of it."""

from __future__ import annotations

import json
import tracemalloc
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from toolpost_core.transcripts.history import read
from toolpost_core.transcripts.spans import MOST_PASSED, PIECE, spans_of
from toolpost_core.transcripts.transcript import Transcript

GARBAGE = {
    "zeros": b"\0" * 4 * PIECE,
    "lines": b'{"type":"log","message":"of another program"}\n' * (4 * PIECE // 45),
    "zeros and lines": b"\0" * 2 * PIECE + b"\n" + b"a line\n" * (PIECE // 3),
}


def told(path: Path, *texts: str, parent: str | None = None, big: int = 0) -> str:
    """Append a conversation; each text is in a message that is so long."""
    file = Transcript(path, "s", "0", pytest.fail, parent)
    for text in texts:
        said: dict[str, Any] = {"role": "user", "content": [{"type": "text", "text": text + " " + "x" * big}]}
        parent = file.message("user", said, path.parent)
    file.close()
    assert parent is not None
    return parent


def said(path: Path, guard: int) -> list[str]:
    blocks: list[Any] = [block for message in read(path, guard=guard).messages for block in message["content"]]
    return [block["text"].split()[0] for block in blocks]


@pytest.mark.parametrize("garbage", GARBAGE)
def test_what_is_no_record_hides_nothing_that_was_said_before(tmp_path: Path, garbage: str) -> None:
    path = tmp_path / "s.jsonl"
    last = told(path, "one", "two", big=100_000)
    with path.open("ab") as file:
        file.write(GARBAGE[garbage])

    assert said(path, guard=3 * PIECE) == ["one", "two"]
    assert any("MB of it are no records" in text for text in read(path, guard=3 * PIECE).warnings)

    told(path, "three", parent=last)
    assert said(path, guard=3 * PIECE) == ["one", "two", "three"], "also when it was gone on with behind it"


def test_long_lines_are_no_garbage(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    record = {"type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s"}
    message = {"role": "user", "content": "long " + "x" * 5 * PIECE}
    path.write_text(json.dumps({**record, "message": message}) + "\n" + json.dumps({**record, "type": "mode"}) + "\n")

    with path.open("rb") as file:
        spans = spans_of(file, path.stat().st_size, 6 * PIECE)
        assert (spans.begin, spans.passed) == (0, 0)
    assert said(path, guard=6 * PIECE) == ["long"]


def test_what_is_passed_over_has_a_limit() -> None:
    size = (MOST_PASSED + 10) * PIECE
    spans = spans_of(BytesIO(bytes(size)), size, PIECE)

    assert not spans.spans
    assert spans.passed <= (MOST_PASSED + 1) * PIECE


def test_zeros_of_any_size_are_not_held(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    told(path, "one")
    with path.open("r+b") as file:
        file.truncate(60_000_000)
    tracemalloc.start()
    try:
        assert said(path, guard=50_000_000) == ["one"]
        assert tracemalloc.get_traced_memory()[1] < 15_000_000
    finally:
        tracemalloc.stop()
