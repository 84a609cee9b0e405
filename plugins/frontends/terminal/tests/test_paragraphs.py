from __future__ import annotations

import pytest

from toolpost_frontend_terminal.paragraphs import Paragraphs

TEXT = "# Title\n\nOne\ntwo.\n\n- a\n\n  more of a\n- b\n\n```py\nx = 1\n\n\ny = 2\n```\n\nEnd."
PARTS = [
    "# Title\n\n",
    "One\ntwo.\n\n",
    "- a\n\n  more of a\n- b\n\n",
    "```py\nx = 1\n\n\ny = 2\n```\n\n",
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_parts_are_the_same_however_the_text_is_cut(size: int) -> None:
    paragraphs = Paragraphs()
    parts = [part for start in range(0, len(TEXT), size) for part in paragraphs.feed(TEXT[start : start + size])]
    assert parts == PARTS
    assert paragraphs.tail == "End."
    assert paragraphs.finish() == "End."
    assert paragraphs.tail == ""


def test_a_fence_inside_a_longer_fence_does_not_end_it() -> None:
    paragraphs = Paragraphs()
    assert list(paragraphs.feed("````\n```\n\ninside\n```\n````\n\nafter")) == ["````\n```\n\ninside\n```\n````\n\n"]


def test_nothing_is_lost_or_said_twice() -> None:
    paragraphs = Paragraphs()
    assert "".join([*paragraphs.feed(TEXT), paragraphs.finish()]) == TEXT
