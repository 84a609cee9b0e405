from __future__ import annotations

import pytest

from toolpost_frontend_terminal.clean import clean, clean_input, one_line


@pytest.mark.parametrize(
    ("dirty", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("a\x1b]0;new title\x07b", "ab"),
        ("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb"),
        ("\x9b2Jgone?", "gone?"),
        ("\x1bc reset", " reset"),
        ("\x1b(0lines", "lines"),
        ("a\x1b", "a"),
        ("a\x08\x07\x00b", "ab"),
        ("half \ud83d", "half "),
        ("10%\r20%\r100%", "100%"),
        ("dos\r\nline\r\n", "dos\nline\n"),
        ("tab\tstop", "tab stop"),
        ("漢字 🙂 é", "漢字 🙂 é"),
    ],
)
def test_text_cannot_command_the_terminal(dirty: str, shown: str) -> None:
    assert clean(dirty) == shown


def test_what_is_asked_about_spells_out_characters_that_deceive() -> None:
    assert clean_input("cat \u202egpj.exe\u200b") == "cat <U+202E>gpj.exe<U+200B>"


def test_a_summary_is_one_line() -> None:
    assert one_line("a\n  b\x1b[1m\tc\n") == "a b c"
