from __future__ import annotations

import errno
import tempfile
from pathlib import Path

import pytest

from toolpost_service_commands import temporary
from toolpost_service_commands.temporary import Temporary


@pytest.fixture
def usual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "usual"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> set[Path]:
    """Folders in which files can be made but nothing written, as on a full disk."""
    found: set[Path] = set()
    write = temporary._write_something

    def written(file: Path) -> None:
        if any(file.is_relative_to(folder) for folder in found):
            raise OSError(errno.ENOSPC, "No space left on device", str(file))
        write(file)

    monkeypatch.setattr(temporary, "_write_something", written)
    return found


def test_the_folder_is_where_temporary_files_go_and_stays_the_same(usual: Path, tmp_path: Path) -> None:
    made = Temporary([tmp_path / "other"])
    folder = made.folder()
    assert (folder.parent, folder, made.trouble) == (usual, made.folder(), "")
    assert list(folder.iterdir()) == []
    made.remove()
    assert list(usual.iterdir()) == []


def test_a_folder_that_was_cleared_away_is_made_anew(usual: Path) -> None:
    made = Temporary([])
    made.folder().rmdir()
    assert made.folder().is_dir()


def test_without_room_it_is_elsewhere_until_there_is_some_and_that_is_told(
    usual: Path, tmp_path: Path, full: set[Path]
) -> None:
    made = Temporary([tmp_path / "results"])
    first = made.folder()
    full.add(usual)
    assert made.folder().parent == tmp_path / "results"
    assert made.trouble == f"The folder for temporary files can't be written to: {usual}: No space left on device"
    full.clear()
    assert (made.folder(), made.trouble) == (first, "")


def test_where_there_is_no_room_at_all_the_usual_place_is_named(usual: Path, tmp_path: Path, full: set[Path]) -> None:
    full.update((usual, tmp_path / "results"))
    with pytest.raises(OSError, match="No space left on device") as raised:
        Temporary([tmp_path / "results"]).folder()
    assert (raised.value.errno, raised.value.filename) == (errno.ENOSPC, str(usual))
