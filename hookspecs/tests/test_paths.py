"""What a model may write for a path: what could be one, and leads to where it did when it was decided on."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolpost import Control, DecidedPaths, InvalidInput, StaleFile, ToolContext
from toolpost.testing import AbortSwitch, make_context


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


@pytest.fixture
def decided(tmp_path: Path) -> ToolContext:
    """The context of a call on `link`, which led to the folder `one` when it was decided on."""
    folder = tmp_path.resolve()
    for name in ("one", "two"):
        (folder / name).mkdir()
        (folder / name / "out").symlink_to(folder)
    (folder / "link").symlink_to("one")
    paths = DecidedPaths({folder / "link": folder / "one"})
    return make_context(folder, control=Control(abort=AbortSwitch(), paths=paths))


@pytest.mark.parametrize(
    ("path", "real"), [("link", "one"), ("link/new", "one/new"), ("link/out/two", "two"), ("two/out/link", "one")]
)
def test_a_path_leads_to_where_its_links_do(decided: ToolContext, path: str, real: str) -> None:
    assert decided.real(path) == decided.cwd / real


@pytest.mark.parametrize("path", ["link", "link/new"])
def test_a_path_that_leads_elsewhere_than_it_was_decided_on_is_refused(decided: ToolContext, path: str) -> None:
    (decided.cwd / "link").unlink()
    (decided.cwd / "link").symlink_to("two")

    with pytest.raises(StaleFile, match=r"two by now, and permission was given for .*one"):
        decided.real(path)
    assert decided.real("two/new") == decided.cwd / "two/new"
