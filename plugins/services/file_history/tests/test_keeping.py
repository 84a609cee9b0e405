"""What is kept of a file before it changes, and how it is recorded."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from pathlib import Path

import pytest
from history_doubles import Sitting  # type: ignore[import-not-found]

from toolpost import SessionError
from toolpost.testing import make_scope
from toolpost_service_file_history.history import why_off


def sha(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


async def test_a_copy_is_named_for_its_content_and_only_its_owner_reads_it(sitting: Sitting) -> None:
    sitting.folder.joinpath("a").write_text("old")
    await sitting.turn("p1", {"a": "new", "b": "made"})

    (copy,) = sitting.copies.iterdir()
    assert (copy.name, copy.read_text()) == (sha("old"), "old")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(sitting.copies.stat().st_mode) == 0o700


async def test_the_same_content_is_stored_once(sitting: Sitting) -> None:
    for name in ("a", "b", "c"):
        sitting.folder.joinpath(name).write_text("same")
    await sitting.turn("p1", {"a": "1", "b": "2"})
    await sitting.turn("p2", {"c": "3"})

    assert [copy.name for copy in sitting.copies.iterdir()] == [sha("same")]


async def test_a_record_has_the_shape_that_readers_know(sitting: Sitting) -> None:
    path = sitting.folder / "a"
    path.write_text("old")
    await sitting.turn("p1", {"a": "new", "b": "made"})

    first, second = sitting.journal.records("file-history-snapshot")
    assert (first["messageId"], first["snapshot"]["messageId"], first["isSnapshotUpdate"]) == ("p1", "p1", False)
    backup = first["snapshot"]["trackedFileBackups"][str(path)]
    assert (backup["backupFileName"], backup["version"]) == (sha("old"), 1)
    assert backup["backupTime"].endswith("Z")
    assert second["isSnapshotUpdate"]
    assert second["snapshot"]["trackedFileBackups"][str(sitting.folder / "b")]["backupFileName"] is None


async def test_a_file_that_a_turn_changes_often_is_copied_once(sitting: Sitting) -> None:
    sitting.folder.joinpath("a").write_text("0")
    await sitting.turn("p1", {"a": "1"})
    await sitting.write("a", "2")
    await sitting.write("a", "3")

    assert [copy.name for copy in sitting.copies.iterdir()] == [sha("0")]
    await sitting.history.rewind("p1")
    assert sitting.files() == {"a": "0"}


async def test_writing_what_is_there_already_is_no_change(sitting: Sitting) -> None:
    sitting.folder.joinpath("a").write_text("same")
    await sitting.turn("p1", {"a": "same"})

    assert sitting.journal.appended == []


async def test_what_changes_before_any_prompt_is_not_kept(sitting: Sitting) -> None:
    await sitting.write("a", "x")

    assert sitting.journal.appended == []
    assert not sitting.copies.exists()


async def test_a_file_over_the_limit_says_that_it_cant_be_rewound(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, max_file_bytes=10)
    sitting.folder.joinpath("big").write_text("x" * 11)
    await sitting.turn("p1", {"big": "small", "fits": "y"})

    planned = await sitting.planned("p1")
    assert planned["big"].problem == "it was over 10 bytes: of such files no copy is kept"
    rewound = await sitting.history.rewind("p1")
    assert [file.path.name for file in rewound.left] == ["big"]
    assert sitting.files() == {"big": "small"}


async def test_a_file_that_grew_over_the_limit_stays_as_it_is(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, max_file_bytes=10)
    sitting.folder.joinpath("a").write_text("small")
    await sitting.turn("p1", {"a": "x" * 11})

    assert "over 10 bytes now" in (await sitting.planned("p1"))["a"].problem


async def test_a_link_stays_and_its_target_is_kept(sitting: Sitting) -> None:
    target, link = sitting.folder / "target", sitting.folder / "link"
    target.write_text("old")
    link.symlink_to("target")
    await sitting.turn("p1", {"link": "new"})
    assert target.read_text() == "new"

    rewound = await sitting.history.rewind("p1")
    assert [file.path for file in rewound.files] == [target]
    assert (link.is_symlink(), target.read_text()) == (True, "old")


async def test_a_fifo_is_not_opened(sitting: Sitting) -> None:
    sitting.journal.send("p1")
    os.mkfifo(sitting.folder / "pipe")
    await sitting.history.keep(sitting.folder / "pipe")

    assert sitting.journal.appended == []


@pytest.mark.parametrize(
    ("settings", "env", "off"),
    [
        ({}, {}, False),
        ({"fileCheckpointingEnabled": False}, {}, True),
        ({}, {"TOOLPOST_DISABLE_FILE_CHECKPOINTING": "1"}, True),
        ({}, {"CLAUDE_CODE_DISABLE_FILE_CHECKPOINTING": "true"}, True),
        ({}, {"TOOLPOST_DISABLE_FILE_CHECKPOINTING": "0"}, False),
    ],
)
def test_it_can_be_turned_off(tmp_path: Path, settings: dict[str, bool], env: dict[str, str], off: bool) -> None:
    assert bool(why_off(make_scope(tmp_path, settings=settings, env=env))) is off


async def test_where_it_is_off_nothing_is_kept_and_rewinding_says_why(sitting: Sitting) -> None:
    sitting.history._off = "fileCheckpointingEnabled is false"
    await sitting.turn("p1", {"a": "x"})

    assert sitting.journal.appended == []
    with pytest.raises(SessionError, match="fileCheckpointingEnabled is false"):
        await sitting.history.rewind("p1")


async def test_a_session_without_a_transcript_leaves_no_copies_and_touches_no_others(
    sitting: Sitting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passing = tmp_path / "passing"
    passing.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(passing))
    sitting.folder.joinpath("a").write_text("0")
    await sitting.turn("p1", {"a": "1"})
    sitting.forget_transcript()
    await sitting.turn("p2", {"a": "2"})
    assert len(list(passing.iterdir())) == 1

    await sitting.history.rewind("p1")
    assert sitting.files() == {"a": "0"}
    await sitting.history.aclose()
    assert list(passing.iterdir()) == []
    assert [copy.read_text() for copy in sitting.copies.iterdir()] == ["0"]


async def test_an_id_that_can_be_no_folder_stays_in_the_history(sitting: Sitting) -> None:
    sitting.fork("..")
    sitting.folder.joinpath("a").write_text("0")
    await sitting.turn("p1", {"a": "1"})

    (folder,) = (sitting.scope.config_dir / "file-history").iterdir()
    assert len(folder.name) == 64
    await sitting.history.rewind("p1")
    assert sitting.files() == {"a": "0"}
