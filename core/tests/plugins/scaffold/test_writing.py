from __future__ import annotations

from pathlib import Path

import pytest

from toolpost import PluginError
from toolpost_core.plugins.scaffold import write

TEXTS = {"README.md": "one\n", "src/acme/__init__.py": "", "pyproject.toml": "[project]\n"}
BROKEN = {"README.md": "one\n", "README.md/two": "two\n"}


def written(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}


def test_a_folder_that_is_not_there_is_made_with_its_parents(tmp_path: Path) -> None:
    write(tmp_path / "new" / "acme", TEXTS)
    assert written(tmp_path / "new" / "acme") == TEXTS
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["acme"]


def test_an_empty_folder_is_filled_and_stays_the_same_folder(tmp_path: Path) -> None:
    before = tmp_path.stat().st_ino
    write(tmp_path, TEXTS)
    assert (written(tmp_path), tmp_path.stat().st_ino) == (TEXTS, before)


@pytest.mark.parametrize("name", ["notes.txt", ".git"])
def test_a_folder_that_is_not_empty_is_left_as_it_was(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(PluginError, match=f"is not empty: {name} is in it. Nothing was written"):
        write(tmp_path, TEXTS)
    assert written(tmp_path) == {name: "mine"}


def test_a_file_in_the_place_of_the_folder_is_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "acme").write_text("mine")
    with pytest.raises(PluginError, match="Not a directory"):
        write(tmp_path / "acme", TEXTS)
    with pytest.raises(PluginError, match="Not a directory"):
        write(tmp_path / "acme" / "below", TEXTS)
    assert written(tmp_path) == {"acme": "mine"}


@pytest.mark.parametrize("place", ["new/acme", "acme", "."])
def test_where_a_file_can_not_be_written_none_is(tmp_path: Path, place: str) -> None:
    with pytest.raises(PluginError, match="can't be written, and nothing was"):
        write(tmp_path / place, BROKEN)
    assert list(tmp_path.iterdir()) == []


def test_where_a_file_can_not_be_moved_none_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename = Path.rename

    def fails_at_the_last(self: Path, target: Path) -> Path:
        if target == tmp_path / "pyproject.toml":
            raise OSError("no space left")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fails_at_the_last)
    with pytest.raises(PluginError, match="no space left"):
        write(tmp_path, TEXTS)
    assert list(tmp_path.iterdir()) == []
