from __future__ import annotations

import pytest

from toolpost_context_instructions.markup import read_markup


@pytest.mark.parametrize(
    ("text", "imports"),
    [
        ("@a.md", ["a.md"]),
        ("See @docs/a.md and (@b.md).", ["docs/a.md", "b.md)."]),
        ("@a.md @a.md", ["a.md"]),
        ("@with\\ blank.md", ["with blank.md"]),
        ("mail ada@example.com", []),
        ("`@a.md`", []),
        ("``x ` @a.md`` @b.md", ["b.md"]),
        ("a lone ` and @a.md", ["a.md"]),
        ("```\n@a.md\n```\n@b.md", ["b.md"]),
        ("~~~~ text\n@a.md\n~~~\n@a.md\n~~~~\n@b.md", ["b.md"]),
        ("```\n@a.md", []),
        ("```@a.md``` and @b.md", ["b.md"]),
        ("Text:\n\n    @a.md\n\n@b.md", ["b.md"]),
        ("- item\n\n    @a.md", ["a.md"]),
        ("Text\n    @a.md", ["a.md"]),
        ("<!-- @a.md -->@b.md", ["b.md"]),
        ("<!--\n@a.md", ["a.md"]),
    ],
)
def test_imports_count_outside_code_and_comments(text: str, imports: list[str]) -> None:
    assert read_markup(text)[1] == imports


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a <!-- b --> c", "a  c"),
        ("a\n<!-- b\nb -->\nc", "a\nc"),
        ("<!-- b -->\nc", "c"),
        ("`<!-- b -->`", "`<!-- b -->`"),
        ("```html\n<!-- b -->\n```", "```html\n<!-- b -->\n```"),
        ("a <!-- b", "a <!-- b"),
        ("<!-- ``` -->\n@a", "@a"),
    ],
)
def test_comments_go_except_in_code(text: str, kept: str) -> None:
    assert read_markup(text)[0] == kept


def test_text_without_marks_is_kept_to_the_letter() -> None:
    text = "# Title\n\n- a\n  - b\n\n| x | y |\n\n    code\n\n~ `z` ~\n"
    assert read_markup(text)[0] == text


@pytest.mark.parametrize("piece", ["<!-- ", "` ", "`` ` ", "\n\n    x\n", "```\n~~~\n", "@a ", "<!---->"])
@pytest.mark.timeout(20)
def test_a_large_file_of_odd_marks_is_read_in_reasonable_time(piece: str) -> None:
    text = piece * 50_000
    assert len(read_markup(text)[0]) <= len(text)
