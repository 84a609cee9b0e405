"""What a model may write for a path: anything that could be one, and nothing that no system call takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolpost import InvalidInput
from toolpost.testing import make_context


@pytest.mark.parametrize(
    ("text", "said"),
    [("a\0b", "NUL"), ("\ud800", "half a character"), ("x/" * 2500, "too long"), ("x" * 256, "too long")],
)
def test_a_text_that_can_not_be_a_path_is_refused_with_the_reason(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        make_context(tmp_path).resolve(text)


@pytest.mark.parametrize("text", ["a b", "é/漢字", "x" * 255, "~root", "-rf", "\udcff"])
def test_an_odd_name_is_a_path(tmp_path: Path, text: str) -> None:
    assert make_context(tmp_path).resolve(text) == tmp_path.resolve() / text
