from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolpost_provider_anthropic.sse import Reader

STREAM = (
    "\ufeffevent: a\ndata: one\n\n"
    ": a comment\n\n"
    "data: é漢🎉\ndata:  two spaces\ndata\ndata:x:y\nid: 7\nretry: 10\nunknown: z\n\n"
    "event: empty\n\n"
    "data:\n\n"
    "event: last\ndata: {}\n\n"
    "data: never finished\n"
)
EVENTS = [("a", "one"), ("message", "é漢🎉\n two spaces\n\nx:y"), ("message", ""), ("last", "{}")]


def read(*chunks: bytes) -> list[tuple[str, str]]:
    reader = Reader()
    return [event for chunk in chunks for event in reader.feed(chunk)]


@pytest.mark.parametrize("line_end", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 1000])
def test_events_are_the_same_however_lines_end_and_bytes_are_cut(line_end: str, size: int) -> None:
    data = STREAM.replace("\n", line_end).encode()
    assert read(*(data[i : i + size] for i in range(0, len(data), size))) == EVENTS


@given(
    st.lists(st.sampled_from(["event: a", "data: é🎉", "data:b", "data", ": c", "", "", "x"]), max_size=30),
    st.lists(st.sampled_from(["\n", "\r", "\r\n"]), min_size=30, max_size=30),
    st.lists(st.integers(min_value=0, max_value=300), max_size=20),
)
def test_any_chunking_gives_what_the_whole_gives(lines: list[str], ends: list[str], cuts: list[int]) -> None:
    data = "".join(line + end for line, end in zip(lines, ends, strict=False)).encode()
    places = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    chunks = [data[a:b] for a, b in pairwise(places)]
    assert read(*chunks) == read(data)


@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    read(data, b"\n\n")


def test_a_big_event_in_small_pieces_arrives_whole() -> None:
    data = b"data: " + b"x" * 5_000_000 + b"\n\n"
    ((_, text),) = read(*(data[i : i + 1000] for i in range(0, len(data), 1000)))
    assert len(text) == 5_000_000


def test_an_event_is_there_as_soon_as_its_blank_line_is() -> None:
    reader = Reader()
    assert list(reader.feed(b"data: 1\r\n\r")) == [("message", "1")]
    assert list(reader.feed(b"\ndata: 2\n\n")) == [("message", "2")]
