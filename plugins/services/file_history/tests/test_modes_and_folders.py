"""What is more than a file's content: modes, folders, links."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from history_doubles import Sitting  # type: ignore[import-not-found]

from toolpost import SessionError, TurnChanges

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def command(sitting: Sitting, *names: str) -> AsyncIterator[None]:
    """Do what a command does that names these paths."""
    for name in names:
        await sitting.history.keep(sitting.folder / name)
    yield
    for name in names:
        await sitting.history.settle(sitting.folder / name)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def shape(folder: Path) -> dict[str, str]:
    """Return all that a folder holds, with modes, texts of links and contents."""
    return {str(path.relative_to(folder)): f"{mode(path):o} {_inner(path)}" for path in _all(folder)}


def _all(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        yield from (Path(place, name) for name in sorted((*folders, *names)))


def _inner(path: Path) -> str:
    if path.is_symlink():
        return f"-> {path.readlink()}"
    return "folder" if path.is_dir() else path.read_text()


@pytest.fixture
def script(sitting: Sitting) -> Path:
    path: Path = sitting.folder / "x.sh"
    path.write_text("x")
    path.chmod(0o755)
    return path


async def test_a_rewind_of_nothing_but_a_mode_is_undone_by_its_id(sitting: Sitting, script: Path) -> None:
    sitting.journal.send("p1")
    async with command(sitting, "x.sh"):
        script.chmod(0o600)

    assert await sitting.history.turns() == {"p1": TurnChanges(files=1, added=0, removed=0)}

    rewound = await sitting.history.rewind("p1")
    assert mode(script) == 0o755
    sitting.again()
    await sitting.history.rewind(rewound.id)
    assert mode(script) == 0o600


async def test_the_undo_of_a_rewind_of_content_and_mode_brings_both_back(sitting: Sitting, script: Path) -> None:
    sitting.journal.send("p1")
    async with command(sitting, "x.sh"):
        script.write_text("y")
        script.chmod(0o600)

    rewound = await sitting.history.rewind("p1")
    assert (script.read_text(), mode(script)) == ("x", 0o755)
    await sitting.history.rewind(rewound.id)
    assert (script.read_text(), mode(script)) == ("y", 0o600)


async def test_a_mode_that_was_changed_by_hand_is_named_and_takes_force(sitting: Sitting, script: Path) -> None:
    sitting.journal.send("p1")
    async with command(sitting, "x.sh"):
        script.chmod(0o600)
    sitting.again()
    script.chmod(0o644)

    assert "mode was changed by hand" in (await sitting.planned("p1"))["x.sh"].by_hand
    with pytest.raises(SessionError, match="mode was changed by hand"):
        await sitting.history.rewind("p1")
    assert mode(script) == 0o644
    await sitting.history.rewind("p1", force=True)
    assert mode(script) == 0o755


async def test_a_mode_that_was_changed_by_hand_between_two_changes_counts(sitting: Sitting, script: Path) -> None:
    sitting.journal.send("p1")
    async with command(sitting, "x.sh"):
        script.chmod(0o600)
    script.chmod(0o644)
    await sitting.turn("p2", {"x.sh": "y"})

    assert "between" in (await sitting.planned("p1"))["x.sh"].by_hand
    assert (await sitting.planned("p2"))["x.sh"].by_hand == ""


async def test_modes_are_put_back_where_a_rewind_fails(sitting: Sitting, script: Path) -> None:
    sitting.folder.joinpath("a").write_text("0")
    sitting.folder.joinpath("z").write_text("0")
    sitting.journal.send("p1")
    async with command(sitting, "x.sh"):
        script.chmod(0o600)
    await sitting.write("z", "1")
    sitting.break_writes_of("z")

    with pytest.raises(SessionError, match="All files are as they were before the rewind"):
        await sitting.history.rewind("p1")
    assert mode(script) == 0o600


async def test_a_removed_folder_comes_back_as_it_was(sitting: Sitting) -> None:
    private = sitting.folder / "private"
    for folder in (private, private / "empty", private / "closed"):
        folder.mkdir(mode=0o700)
    private.joinpath("closed/key").write_text("secret")
    private.joinpath("closed/key").chmod(0o400)
    private.joinpath("closed").chmod(0o500)
    private.joinpath("link").symlink_to("closed/key")
    private.joinpath("dangling").symlink_to("../nowhere")
    before = shape(sitting.folder)
    sitting.journal.send("p1")
    async with command(sitting, "private"):
        private.joinpath("closed").chmod(0o700)
        shutil.rmtree(private)
    sitting.again()
    assert await sitting.history.turns() == {"p1": TurnChanges(files=1, added=0, removed=1)}

    rewound = await sitting.history.rewind("p1")
    assert shape(sitting.folder) == before
    again = await sitting.history.rewind(rewound.id)
    assert shape(sitting.folder) == {}
    await sitting.history.rewind(again.id)
    assert shape(sitting.folder) == before


async def test_a_made_folder_goes_unless_somebody_put_something_in_it(sitting: Sitting) -> None:
    sitting.journal.send("p1")
    async with command(sitting, "made", "used"):
        sitting.folder.joinpath("made/empty").mkdir(parents=True)
        sitting.folder.joinpath("used").mkdir()
    sitting.folder.joinpath("used/mine").write_text("by hand")

    await sitting.history.rewind("p1")
    assert set(shape(sitting.folder)) == {"used", "used/mine"}


async def test_links_that_a_command_makes_and_removes_go_back(sitting: Sitting) -> None:
    sitting.folder.joinpath("target").write_text("t")
    sitting.folder.joinpath("old").symlink_to("target")
    before = shape(sitting.folder)
    sitting.journal.send("p1")
    async with command(sitting, "old", "new"):
        sitting.folder.joinpath("old").unlink()
        sitting.folder.joinpath("new").symlink_to("target")

    await sitting.history.rewind("p1")
    assert shape(sitting.folder) == before


async def test_a_folder_that_came_by_hand_in_the_place_of_a_made_file_stays(sitting: Sitting) -> None:
    await sitting.turn("p1", {"a": "1"})
    sitting.folder.joinpath("a").unlink()
    sitting.folder.joinpath("a").mkdir()

    assert await sitting.planned("p1") == {}


async def test_the_copy_of_no_other_file_goes_with_a_link(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path.resolve(), max_snapshots=1)
    precious = sitting.copies.parent / "precious"
    precious.parent.mkdir(parents=True)
    precious.write_text("x")
    link = sitting.folder / "link"
    link.symlink_to("../precious")
    sitting.journal.send("p1")
    async with command(sitting, "link"):
        link.unlink()
    await sitting.turn("p2", {"a": "1"})
    await sitting.turn("p3", {"a": "2"})

    assert precious.read_text() == "x"


async def test_a_folder_that_was_made_for_a_file_and_then_removed_does_not_come_back(sitting: Sitting) -> None:
    await sitting.turn("p1", {"new/deep/a": "1"})
    sitting.journal.send("p2")
    async with command(sitting, "new"):
        shutil.rmtree(sitting.folder / "new")

    await sitting.history.rewind("p2")
    assert set(shape(sitting.folder)) == {"new", "new/deep", "new/deep/a"}
    await sitting.history.rewind("p1")
    assert shape(sitting.folder) == {}
    await sitting.history.rewind("p1")
    assert shape(sitting.folder) == {}


async def test_all_folders_that_were_made_go_whichever_file_they_were_made_for(sitting: Sitting) -> None:
    await sitting.turn("p1", {"d/s/t/first": "1", "d/q/second": "1", "d/a": "1"})

    await sitting.history.rewind("p1")
    assert shape(sitting.folder) == {}


async def test_a_folder_that_was_removed_and_made_again_stays(sitting: Sitting) -> None:
    folder = sitting.folder / "d"
    folder.mkdir()
    sitting.journal.send("p1")
    async with command(sitting, "d"):
        folder.rmdir()
    await sitting.write("d/a", "1")

    await sitting.history.rewind("p1")
    assert set(shape(sitting.folder)) == {"d"}


async def test_a_folder_that_was_made_for_a_file_goes_though_the_file_went_before(sitting: Sitting) -> None:
    await sitting.turn("p1", {"d/a": "1", "b": "1"})
    async with command(sitting, "d/a"):
        sitting.folder.joinpath("d/a").unlink()

    await sitting.history.rewind("p1")
    assert shape(sitting.folder) == {}


async def test_a_folder_that_was_there_is_not_taken_for_one_that_was_made_since(sitting: Sitting) -> None:
    folder = sitting.folder / "d"
    folder.mkdir(mode=0o755)
    folder.joinpath("a").write_text("0")
    sitting.journal.send("p1")
    async with command(sitting, "d/a"):
        folder.joinpath("a").unlink()
    folder.rmdir()
    await sitting.write("d/a", "1")
    async with command(sitting, "d"):
        folder.chmod(0o700)

    await sitting.history.rewind("p1", force=True)
    assert shape(sitting.folder) == {"d": "755 folder", "d/a": "644 0"}


async def test_a_folder_that_came_back_with_a_file_is_not_made_by_hand(sitting: Sitting) -> None:
    folder = sitting.folder / "d"
    folder.mkdir(mode=0o700)
    sitting.journal.send("p1")
    async with command(sitting, "d"):
        folder.rmdir()
    await sitting.write("d/a", "1")
    async with command(sitting, "d"):
        shutil.rmtree(folder)

    await sitting.history.rewind("p1")
    assert shape(sitting.folder) == {"d": "700 folder"}
