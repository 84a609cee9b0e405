from __future__ import annotations

import re

import pytest

from toolpost_service_commands.text import ENDS, MOST_CHARS, clean, show, show_ends


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"\x1b[31mred\x1b[0m \x1b]8;;x\x1b\\link\x1b]8;;\x1b\\\n", "red link\n"),
        (b"\x1b]0;a title\x07text\n", "text\n"),
        (b"\x1b(B\x0f\x1b[m\x1b[?25lhidden cursor\x1b[?25h", "hidden cursor"),
        (b"\rprogress 1\rprogress 2\r\nnext\r\n", "progress 2\nnext\n"),
        (b"50%\r\x1b[K100%\n", "100%\n"),
        (b"half\r", "half"),
        (b"abc\x08\x08d\n", "ad\n"),
        (b"_\x08b_\x08o_\x08l_\x08d\n", "bold\n"),
        (b"ding\x07 dong\n", "ding dong\n"),
        (b"a\x00b\xff\n", "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}\n"),
        (b"one\x00two\x00", "one\N{REPLACEMENT CHARACTER}two\N{REPLACEMENT CHARACTER}"),
        (b"cut \x1b", "cut "),
        (b"tab\tand\n\n  indent", "tab\tand\n\n  indent"),
        ("grün 😀\n".encode(), "grün 😀\n"),
    ],
)
def test_terminal_codes_and_bytes_become_text(raw: bytes, shown: str) -> None:
    assert clean(raw) == shown


def test_output_up_to_the_limit_is_shown_whole_and_one_more_character_cuts_it() -> None:
    assert show(b"x" * MOST_CHARS).cut is False
    cut = show(b"x" * (MOST_CHARS + 1))
    assert cut.cut
    assert len(cut.text) < MOST_CHARS


def test_a_cut_is_made_between_lines_where_there_are_any() -> None:
    text = show(b"".join(b"line %d\n" % number for number in range(20_000))).text
    head, tail = re.split(r"\n\n\[… the middle of [\d,]+ bytes is left out …\]\n\n", text)
    assert head.splitlines() == [f"line {number}" for number in range(len(head.splitlines()))]
    assert tail.splitlines()[-1] == "line 19999"
    assert tail.splitlines()[0].startswith("line ")


def test_no_character_is_torn_where_an_output_is_read_in_parts() -> None:
    data = "ä😀".encode() * 100_000
    for shift in range(6):
        shown = show_ends(data[:ENDS], data[shift - ENDS - 6 : len(data) - 6 + shift], len(data))
        middle = shown.text.replace("\N{REPLACEMENT CHARACTER}", "?")
        assert middle.count("?") <= 1  # The end of the data itself is torn here, nothing else.
