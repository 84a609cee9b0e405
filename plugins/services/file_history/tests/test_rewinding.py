"""Bringing files back."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from history_doubles import Sitting  # type: ignore[import-not-found]

from toolpost import SessionError, TurnChanges


async def test_each_prompt_can_be_gone_back_to_and_each_rewind_undone(sitting: Sitting) -> None:
    sitting.folder.joinpath("a").write_text("0")
    await sitting.turn("p1", {"a": "1"})
    await sitting.turn("p2", {"a": "2", "b": "new"})
    await sitting.turn("p3", {"a": "3"})

    second = await sitting.history.rewind("p2")
    assert sitting.files() == {"a": "1"}
    await sitting.history.rewind("p1")
    assert sitting.files() == {"a": "0"}
    await sitting.history.rewind(second.id)
    assert sitting.files() == {"a": "3", "b": "new"}
    await sitting.history.rewind("p3")
    assert sitting.files() == {"a": "2", "b": "new"}


async def test_what_is_done_after_a_rewind_can_be_rewound_too(sitting: Sitting) -> None:
    await sitting.turn("p1", {"a": "1"})
    await sitting.turn("p2", {"a": "2"})
    await sitting.history.rewind("p2")
    await sitting.turn("p3", {"a": "other"})

    await sitting.history.rewind("p3")
    assert sitting.files() == {"a": "1"}
    await sitting.history.rewind("p2")
    assert sitting.files() == {"a": "1"}


async def test_folders_that_were_made_for_a_file_go_with_it_unless_they_hold_something_else(sitting: Sitting) -> None:
    await sitting.turn("p1", {"one/two/a": "x", "three/four/b": "y"})
    sitting.folder.joinpath("three/mine").write_text("by hand")

    await sitting.history.rewind("p1")
    assert sitting.files() == {"three/mine": "by hand"}
    assert sorted(path.name for path in sitting.folder.iterdir()) == ["three"]


async def test_a_deleted_file_comes_back_with_its_mode_and_folder(sitting: Sitting) -> None:
    script = sitting.folder / "bin/run.sh"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    script.chmod(0o750)
    sitting.journal.send("p1")
    await sitting.history.keep(script.parent)
    script.unlink()
    script.parent.rmdir()
    await sitting.history.settle(script.parent)

    planned = await sitting.planned("p1")
    assert (planned["bin/run.sh"].change, planned["bin/run.sh"].added) == ("deleted", 1)
    await sitting.history.rewind("p1")
    assert (script.read_text(), stat.S_IMODE(script.stat().st_mode)) == ("#!/bin/sh\n", 0o750)


async def test_a_moved_file_moves_back(sitting: Sitting) -> None:
    old, new = sitting.folder / "old", sitting.folder / "new"
    old.write_text("x")
    sitting.journal.send("p1")
    for path in (old, new):
        await sitting.history.keep(path)
    old.rename(new)
    for path in (old, new):
        await sitting.history.settle(path)

    await sitting.history.rewind("p1")
    assert sitting.files() == {"old": "x"}


async def test_a_folder_that_a_command_made_goes_with_all_that_came_with_it(sitting: Sitting) -> None:
    made = sitting.folder / "copy"
    sitting.journal.send("p1")
    await sitting.history.keep(made)
    (made / "deep").mkdir(parents=True)
    (made / "deep/a").write_text("x")
    (made / "b").write_text("y")
    await sitting.history.settle(made)

    await sitting.history.rewind("p1")
    assert not made.exists()


async def test_a_command_that_leaves_a_file_alone_is_no_change(sitting: Sitting) -> None:
    sitting.folder.joinpath("a").write_text("x")
    sitting.journal.send("p1")
    await sitting.history.keep(sitting.folder)
    await sitting.history.settle(sitting.folder)

    assert await sitting.planned("p1") == {}
    assert await sitting.history.turns() == {}


async def test_a_change_of_mode_goes_back(sitting: Sitting) -> None:
    path = sitting.folder / "a"
    path.write_text("x")
    path.chmod(0o644)
    sitting.journal.send("p1")
    await sitting.history.keep(path)
    path.chmod(0o755)
    await sitting.history.settle(path)

    await sitting.history.rewind("p1")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


async def test_nothing_is_rewound_over_a_change_by_hand_unless_told(sitting: Sitting) -> None:
    await sitting.turn("p1", {"a": "1", "b": "1"})
    sitting.folder.joinpath("a").write_text("mine")

    assert "by hand" in (await sitting.planned("p1"))["a"].by_hand
    with pytest.raises(SessionError, match=r"may not be the session's:\n.*/a: "):
        await sitting.history.rewind("p1")
    assert sitting.files() == {"a": "mine", "b": "1"}

    rewound = await sitting.history.rewind("p1", force=True)
    assert sitting.files() == {}
    await sitting.history.rewind(rewound.id)
    assert sitting.files() == {"a": "mine", "b": "1"}


async def test_a_file_that_was_deleted_by_hand_is_changed_by_hand(sitting: Sitting) -> None:
    sitting.folder.joinpath("a").write_text("0")
    await sitting.turn("p1", {"a": "1"})
    sitting.folder.joinpath("a").unlink()

    planned = await sitting.planned("p1")
    assert (planned["a"].change, bool(planned["a"].by_hand)) == ("deleted", True)


async def test_a_change_by_hand_between_two_changes_counts(sitting: Sitting) -> None:
    await sitting.turn("p1", {"a": "1"})
    sitting.folder.joinpath("a").write_text("mine")
    await sitting.turn("p2", {"a": "mine and 2"})

    assert "between" in (await sitting.planned("p1"))["a"].by_hand
    assert (await sitting.planned("p2"))["a"].by_hand == ""
    await sitting.history.rewind("p2")
    assert sitting.files() == {"a": "mine"}


async def test_a_change_whose_outcome_nobody_saw_counts_as_made_by_hand(sitting: Sitting) -> None:
    path = sitting.folder / "a"
    path.write_text("0")
    sitting.journal.send("p1")
    await sitting.history.keep(path)
    path.write_text("half of")
    sitting.again()

    assert "not known" in (await sitting.planned("p1"))["a"].by_hand


async def test_a_write_that_a_crash_cut_off_is_no_change_by_hand(sitting: Sitting) -> None:
    sitting.folder.joinpath("a").write_text("0")
    await sitting.turn("p1", {"a": "1"})
    await sitting.history.keep(sitting.folder / "a", becomes=b"2")
    sitting.again()

    await sitting.history.rewind("p1")
    assert sitting.files() == {"a": "0"}


async def test_lines_are_counted_as_rewinding_changes_them(sitting: Sitting) -> None:
    sitting.folder.joinpath("a").write_text("one\ntwo\nthree\n")
    sitting.folder.joinpath("picture").write_bytes(b"\0old")
    await sitting.turn("p1", {"a": "one\n2\n", "new": "x\ny\n"})
    await sitting.write("picture", b"\0new")

    planned = await sitting.planned("p1")
    counted = {name: (file.change, file.added, file.removed) for name, file in planned.items()}
    assert counted == {"a": ("changed", 2, 1), "new": ("created", 0, 2), "picture": ("changed", None, None)}


async def test_turns_tell_what_each_of_them_changed(sitting: Sitting) -> None:
    sitting.folder.joinpath("a").write_text("one\n")
    await sitting.turn("p1", {"a": "one\ntwo\n", "b": "x\n"})
    sitting.journal.send("p2")
    await sitting.turn("p3", {"a": "two\n"})

    assert await sitting.history.turns() == {
        "p1": TurnChanges(files=2, added=2, removed=0),
        "p3": TurnChanges(files=1, added=0, removed=1),
    }


async def test_where_one_file_cant_be_written_all_are_put_back(sitting: Sitting) -> None:
    await sitting.turn("p0", {"b/file": "0"})
    await sitting.turn("p1", {"a": "1", "b/file": "1", "c": "1"})
    before = sitting.files()
    sitting.break_writes_of("file")

    with pytest.raises(SessionError, match=r"b/file could not be rewound: .*All files are as they were"):
        await sitting.history.rewind("p1")
    assert sitting.files() == before


async def test_a_copy_that_is_gone_or_damaged_is_told(sitting: Sitting) -> None:
    for name in ("a", "b"):
        sitting.folder.joinpath(name).write_text(f"old {name}")
    await sitting.turn("p1", {"a": "1", "b": "1"})
    first, second = sitting.copies.iterdir()
    first.unlink()
    second.write_text("other")

    problems = {file.problem for file in (await sitting.planned("p1")).values()}
    assert problems == {"its copy is gone", "its copy is damaged"}


async def test_a_link_that_came_into_the_path_is_not_followed(sitting: Sitting, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a").write_text("1")
    await sitting.turn("p1", {"sub/a": "1"})
    (sitting.folder / "sub/a").unlink()
    (sitting.folder / "sub").rmdir()
    (sitting.folder / "sub").symlink_to(outside)

    assert "symbolic link" in (await sitting.planned("p1"))["sub/a"].problem
    await sitting.history.rewind("p1", force=True)
    assert (outside / "a").read_text() == "1"


async def test_only_so_many_snapshots_are_kept_and_their_copies_with_them(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, max_snapshots=3)
    sitting.folder.joinpath("a").write_text("0")
    sitting.folder.joinpath("b").write_text("0 too")
    for number in range(1, 6):
        await sitting.turn(f"p{number}", {"a": str(number), **({"b": "1"} if number == 1 else {})})

    assert sorted(copy.read_text() for copy in sitting.copies.iterdir()) == ["2", "3", "4"]
    assert "too many changes" in (await sitting.planned("p1"))["a"].problem
    sitting.again()
    assert "too many changes" in (await sitting.planned("p1"))["b"].problem
    await sitting.history.rewind("p3")
    assert sitting.files() == {"a": "2", "b": "1"}


async def test_a_resumed_session_goes_on_where_it_was(sitting: Sitting) -> None:
    sitting.folder.joinpath("a").write_text("0")
    await sitting.turn("p1", {"a": "1", "new/b": "1"})
    sitting.again()
    await sitting.turn("p2", {"a": "2"})
    sitting.again()

    await sitting.history.rewind("p1")
    assert sitting.files() == {"a": "0"}
    assert not (sitting.folder / "new").exists()


async def test_a_fork_has_copies_of_its_own(sitting: Sitting) -> None:
    sitting.folder.joinpath("a").write_text("0")
    await sitting.turn("p1", {"a": "1"})
    first = sitting.copies
    sitting.fork("fork")
    await sitting.turn("p2", {"a": "2"})
    for copy in first.iterdir():
        copy.unlink()

    await sitting.history.rewind("p1")
    assert sitting.files() == {"a": "0"}
    assert list(first.iterdir()) == []


async def test_damaged_and_foreign_records_are_passed_over(sitting: Sitting) -> None:
    await sitting.turn("p1", {"a": "1"})
    kind = "file-history-snapshot"
    evil = {"backupFileName": "../../secret", "version": 1, "becomes": "x"}
    for fields in (
        {},
        {"messageId": "p1", "snapshot": None},
        {"messageId": "p1", "snapshot": {"trackedFileBackups": {"relative.txt": {"backupFileName": None}}}},
        {"messageId": "p1", "snapshot": {"trackedFileBackups": {str(sitting.folder / "b"): 7}}},
        {"messageId": "p1", "snapshot": {"trackedFileBackups": {str(sitting.folder / "c"): evil}}},
    ):
        sitting.journal.append(kind, fields)
    sitting.again()

    planned = await sitting.planned("p1")
    assert {name: file.problem for name, file in planned.items()} == {
        "a": "",
        "c": "its copy was made by another program",
    }


async def test_an_unknown_id_is_refused(sitting: Sitting) -> None:
    await sitting.turn("p1", {"a": "1"})

    with pytest.raises(SessionError, match="no prompt 'p7'"):
        await sitting.history.plan("p7")


async def test_a_hundred_prompts_can_be_gone_back_to(sitting: Sitting) -> None:
    sitting.folder.joinpath("a").write_text("0")
    for number in range(1, 102):
        await sitting.turn(f"p{number}", {"a": str(number)})

    assert (await sitting.planned("p1"))["a"].problem
    await sitting.history.rewind("p2")
    assert sitting.files() == {"a": "1"}


async def test_what_a_command_of_an_earlier_turn_left_open_stays_so(sitting: Sitting) -> None:
    path = sitting.folder / "log"
    path.write_text("0")
    sitting.journal.send("p1")
    await sitting.history.keep(path)
    path.write_text("1")
    await sitting.turn("p2", {"other": "x"})
    await sitting.history.settle(path)

    assert list(await sitting.planned("p2")) == ["other"]
    assert "not known" in (await sitting.planned("p1"))["log"].by_hand


async def test_a_folder_with_too_many_files_says_that_it_cant_be_rewound(tmp_path: Path) -> None:
    sitting = Sitting(tmp_path, max_file_bytes=100)
    (sitting.folder / "build").mkdir()
    for number in range(11):
        (sitting.folder / f"build/{number}").write_text("x" * 10)
    sitting.journal.send("p1")
    for _ in range(2):
        await sitting.history.keep(sitting.folder / "build")

    (left,) = (await sitting.history.rewind("p1")).left
    assert (left.path, "no copy is kept" in left.problem) == (sitting.folder / "build", True)
    assert len(sitting.journal.appended) == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
async def test_the_lines_of_wide_encodings_are_counted(sitting: Sitting, encoding: str) -> None:
    sitting.folder.joinpath("a").write_bytes("one\ntwo\n".encode(encoding))
    sitting.journal.send("p1")
    await sitting.write("a", "one\nzwei\ndrei\n".encode(encoding))

    planned = (await sitting.planned("p1"))["a"]
    assert (planned.added, planned.removed) == (1, 2)
