from __future__ import annotations

import re

import pytest

from toolpost_frontend_terminal import draw
from toolpost_frontend_terminal.console import Ansi


def rows(text: str, columns: int = 60) -> list[str]:
    drawn = Ansi(plain=True).text([draw.markdown(text)], columns)
    return re.sub(r"\x1b\[[0-9;]*m", "", drawn).splitlines()


@pytest.mark.parametrize("text", ["Return Vec<u8>, or Map<K, V>.", "A <!-- comment --> stays.", "<div>x</div>"])
def test_what_looks_like_html_is_shown(text: str) -> None:
    assert rows(text) == [text]


def test_a_block_of_html_is_shown() -> None:
    assert rows("Before.\n\n<details>\nmore\n</details>") == ["Before.", "", "<details>", "more", "</details>"]


def test_a_break_is_a_new_line_in_a_cell_as_well() -> None:
    assert rows("one<br>two<br/>three") == ["one", "two", "three"]
    assert rows("| a |\n|---|\n| x<br>y |")[-2:] == [" x", " y"]


def test_lines_stay_lines() -> None:
    assert rows("Name: a\nValue: b") == ["Name: a", "Value: b"]


def test_a_cell_that_is_too_long_is_wrapped_and_not_cut() -> None:
    path = "plugins/frontends/terminal/src/toolpost_frontend_terminal/frontend.py"
    drawn = rows(f"| file | why |\n|---|---|\n| {path} | {'because ' * 9}|", 50)
    assert "…" not in "".join(drawn)
    assert "".join(line[:25].strip() for line in drawn).startswith("file")
    assert path in "".join(line.split("  ")[0].strip() for line in drawn[2:])


def test_where_a_picture_or_link_leads_is_shown_once() -> None:
    assert rows("![a chart](http://x/y.png)") == ["a chart (http://x/y.png)"]
    assert rows("![](http://x/y.png)") == ["http://x/y.png"]
    assert rows("[here](http://x)") == ["here (http://x)"]
    assert rows("<http://x> and [http://y](http://y)") == ["http://x and http://y"]


def test_items_of_a_list_have_their_numbers() -> None:
    assert rows("9. nine\n10. ten\n\n    more") == ["  9. nine", " 10. ten", "     more"]


def test_a_rule_is_a_line() -> None:
    assert rows("a\n\n---\n\nb", 5) == ["a", "", "─────", "", "b"]


def test_scripts_without_blanks_break_between_their_characters() -> None:
    assert rows("见 src/main.py 文件，修改函数的名字", 18) == ["见 src/main.py 文", "件，修改函数的名字"]
    assert rows("- 日本語の文章です。", 14) == [" • 日本語の文", "   章です。"]


def test_no_row_begins_with_a_mark_that_belongs_to_the_row_above() -> None:
    assert rows("一二三四五。六", 10) == ["一二三四", "五。六"]
    assert rows("一二三四「五六」", 10) == ["一二三四", "「五六」"]


def test_signs_of_several_characters_and_styles_stay_whole() -> None:
    for sign in ("\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}", "\N{HIGH VOLTAGE SIGN}\N{VARIATION SELECTOR-16}"):
        for columns in range(10, 18):
            assert any(sign in row for row in rows(f"一二三四五六七{sign}八九", columns))
    styled = Ansi().text([draw.markdown("一二**三四五六**七八九十")], 10)
    assert re.sub(r"\x1b\[[0-9;]*m", "", styled).split() == ["一二三四五", "六七八九十"]


def test_text_of_other_scripts_breaks_at_its_blanks() -> None:
    assert rows("one two three four", 10) == ["one two", "three four"]
