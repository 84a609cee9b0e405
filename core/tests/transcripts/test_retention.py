"""Old sessions are removed with all that is theirs; those in use, and what copies need, stay."""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path

import pytest

from toolpost import SessionError, env_file
from toolpost_core.settings import Settings, load
from toolpost_core.transcripts import retention
from toolpost_core.transcripts.history import read
from toolpost_core.transcripts.locks import held, open_locked
from toolpost_core.transcripts.retention import prune
from toolpost_core.transcripts.store import Store
from toolpost_core.transcripts.tidying import MARK, tidy_daily
from toolpost_core.transcripts.transcript import Transcript

DAY = 86_400
PROJECT = Path("/p")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "state")


def session(store: Store, name: str, days: float, *, close: bool = True, file: Transcript | None = None) -> Transcript:
    """Lay a session with a long result and a kept file, last changed so many days ago; `file` has its beginning."""
    file = file or Transcript(store.path(PROJECT, name), name, "0", pytest.fail)
    file.message("user", {"role": "user", "content": "hello"}, PROJECT)
    assert file.path is not None
    for place in (file.path.with_suffix("") / "tool-results", store.config_dir / "file-history" / name):
        place.mkdir(parents=True)
        (place / "it.txt").write_text("x" * 1_000)
    if close:
        file.close()
    age(store, name, days)
    return file


def age(store: Store, name: str, days: float) -> None:
    when = time.time() - days * DAY
    path = store.path(PROJECT, name)
    folders = (path.with_suffix(""), store.config_dir / "file-history" / name)
    for found in (path, *(inner for folder in folders for inner in (folder, *folder.rglob("*")))):
        os.utime(found, (when, when))


def left(store: Store) -> set[str]:
    """Return what there still is of sessions."""
    return {str(path.relative_to(store.config_dir)) for path in store.config_dir.rglob("*") if path.is_file()}


def of(store: Store, name: str) -> set[str]:
    folder = store.folder(PROJECT).name
    return {
        f"projects/{folder}/{name}.jsonl",
        f"projects/{folder}/{name}/tool-results/it.txt",
        f"file-history/{name}/it.txt",
    }


def beside(store: Store, name: str) -> set[str]:
    return {path for path in of(store, name) if not path.endswith(".jsonl")}


def test_what_is_older_goes_with_all_that_is_its_own(store: Store) -> None:
    session(store, "old", 31)
    session(store, "new", 29)
    pruned = prune(store, 30)

    assert left(store) == of(store, "new")
    assert [path.stem for path in pruned.sessions] == ["old"]
    assert pruned.bytes > 2_000


def test_a_dry_run_changes_nothing(store: Store) -> None:
    file = session(store, "old", 31)
    assert file.path is not None
    with file.path.open("a") as cut:
        cut.write('{"stub')
    age(store, "old", 31)
    before = (file.path.read_text(), file.path.stat().st_mtime)
    pruned = prune(store, 30, dry=True)

    assert [path.stem for path in pruned.sessions] == ["old"]
    assert left(store) == of(store, "old")
    assert (file.path.read_text(), file.path.stat().st_mtime) == before


def test_one_in_use_stays_however_old_it_is(store: Store) -> None:
    file = session(store, "idle", 100, close=False)
    pruned = prune(store, 30)
    assert left(store) == of(store, "idle")
    assert [path.stem for path in pruned.kept] == ["idle"]

    file.close()
    prune(store, 30)
    assert left(store) == set()


def test_what_a_crash_left_of_a_session_goes_and_the_memory_stays(store: Store) -> None:
    session(store, "gone", 31)
    store.path(PROJECT, "gone").unlink()
    memory = store.folder(PROJECT) / "memory"
    memory.mkdir()
    (memory / "notes.md").write_text("x")
    os.utime(memory / "notes.md", (1, 1))
    prune(store, 30)

    assert left(store) == {f"projects/{store.folder(PROJECT).name}/memory/notes.md"}


def test_what_toolpost_did_not_write_stays(store: Store) -> None:
    session(store, "old", 31)
    folder = store.folder(PROJECT)
    message = {"type": "user", "uuid": "u", "sessionId": "other", "cwd": "/p", "message": {"content": '"schema":1'}}
    (folder / "other.jsonl").write_text(json.dumps(message) + "\n")
    (folder / "data.jsonl").write_text("1\n2\n")
    for place in ("notes/messages", "memory/subagents", "memory", "other/tool-results"):
        (folder / place).mkdir(parents=True, exist_ok=True)
        (folder / place / "kept.md").write_text("x")
    (folder / "notes" / "mine.md").write_text("x")
    before = left(store) - of(store, "old")
    for path in folder.rglob("*"):
        os.utime(path, (1, 1))
    prune(store, 30)

    assert left(store) == before


def test_a_file_that_nothing_was_ever_written_to_goes(store: Store) -> None:
    path = store.path(PROJECT, "empty")
    path.parent.mkdir(parents=True)
    path.touch()
    os.utime(path, (1, 1))
    prune(store, 30)

    assert left(store) == set()


def test_what_hooks_left_for_a_session_goes_with_it(store: Store) -> None:
    session(store, "old", 31)
    for name in ("old", "young"):
        file = env_file(store.config_dir, name, "SessionStart", "hook") or Path()
        file.parent.mkdir(parents=True)
        file.write_text("export TOKEN=x\n")
        for path in (file, file.parent):
            os.utime(path, (1, 1))
    session(store, "young", 0)
    prune(store, 30)

    assert left(store) == of(store, "young") | {f"session-env/young/{file.name}"}


def test_the_long_results_of_a_session_stay_for_its_copy(store: Store) -> None:
    session(store, "first", 31)
    copy = Transcript(store.path(PROJECT, "copy"), "copy", "0", pytest.fail)
    copy.fork(read(store.path(PROJECT, "first")))
    copy.close()
    prune(store, 30)

    assert any(name.endswith("first/tool-results/it.txt") for name in left(store))
    assert not store.path(PROJECT, "first").exists()


def test_the_long_results_of_all_that_a_copy_was_made_from_stay(store: Store) -> None:
    session(store, "first", 31)
    for name, origin in (("second", "first"), ("third", "second")):
        copy = Transcript(store.path(PROJECT, name), name, "0", pytest.fail)
        copy.fork(read(store.path(PROJECT, origin)))
        session(store, name, 0, file=copy)
    age(store, "second", 31)
    prune(store, 30)
    assert left(store) == of(store, "third") | beside(store, "second") | beside(store, "first")

    age(store, "third", 31)
    prune(store, 30)
    assert left(store) == set()


def test_one_that_was_gone_on_with_as_it_was_to_be_removed_stays(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    session(store, "old", 31)

    def gone_on_with(path: Path, *, make: bool) -> object:
        os.utime(path)
        return held(path, make=make)

    monkeypatch.setattr(retention, "held", gone_on_with)
    pruned = prune(store, 30)

    assert (pruned.sessions, left(store)) == ([], of(store, "old"))


def test_who_opens_a_session_that_is_removed_just_then_writes_to_none_that_is_gone(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    session(store, "old", 31)
    path = store.path(PROJECT, "old")
    size = path.stat().st_size
    lock, removed = fcntl.flock, list[Path]()

    def first_removed(fd: int, operation: int) -> None:
        if not removed:
            path.unlink()
            removed.append(path)
        lock(fd, operation)

    monkeypatch.setattr(fcntl, "flock", first_removed)
    with pytest.raises(SessionError, match="changed by another process"):
        open_locked(path, size)
    assert not path.exists()

    removed.clear()
    path.touch()
    fd, close = open_locked(path)
    assert os.path.samestat(os.fstat(fd), path.stat())
    close()


def test_a_folder_without_sessions_is_removed(store: Store) -> None:
    session(store, "old", 31)
    prune(store, 30)
    assert store.folders() == []


def settings_of(tmp_path: Path, text: str) -> Settings:
    config = tmp_path / "config"
    config.mkdir(exist_ok=True)
    (config / "settings.json").write_text(text)
    return load(tmp_path, tmp_path, config, env={})


def test_it_is_done_once_a_day(store: Store, tmp_path: Path) -> None:
    settings = settings_of(tmp_path, '{"cleanupPeriodDays": 10}')
    cache = tmp_path / "cache"
    session(store, "old", 11)
    assert tidy_daily(store, settings, cache) is None  # the first time, the clock is set
    assert tidy_daily(store, settings, cache) is None
    os.utime(cache / MARK, (1, 1))
    thread = tidy_daily(store, settings, cache)
    assert thread is not None
    thread.join()

    assert left(store) == set()
    assert tidy_daily(store, settings, cache) is None


def test_nothing_is_removed_while_a_settings_file_is_broken(store: Store, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / MARK).touch()
    os.utime(cache / MARK, (1, 1))
    session(store, "old", 1_000)

    assert tidy_daily(store, settings_of(tmp_path, '{"cleanupPeriodDays": 10,'), cache) is None
    assert left(store) == of(store, "old")
