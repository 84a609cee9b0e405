from __future__ import annotations

import os
import tempfile
from functools import partial
from pathlib import Path

import pytest

from toolpost import SessionError
from toolpost_core.transcripts.elsewhere import kept_somewhere
from toolpost_core.transcripts.store import Store
from toolpost_core.transcripts.transcript import Transcript


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "state")


def session(store: Store, project: Path, name: str, age: float = 0.0, prompt: str = "hello") -> Path:
    """Lay a session of one prompt; `age` is in seconds."""
    path = store.path(project, name)
    file = Transcript(path, name, "0", lambda text: pytest.fail(text))
    file.message("user", {"role": "user", "content": [{"type": "text", "text": prompt}]}, project)
    file.close()
    changed = path.stat().st_mtime - age
    os.utime(path, (changed, changed))
    return path


NAMES = ("a_b", "a-b", "a.b", "a b")


def test_the_newest_session_of_a_folder_is_its_own_among_folders_of_similar_names(store: Store, tmp_path: Path) -> None:
    for number, name in enumerate(NAMES):
        session(store, tmp_path / name, f"s-{number}", age=float(number))

    assert len({store.folder(tmp_path / name) for name in NAMES}) == 1
    assert [store.latest(tmp_path / name).stem for name in NAMES] == ["s-0", "s-1", "s-2", "s-3"]


def test_the_newest_of_several_is_continued(store: Store, tmp_path: Path) -> None:
    session(store, tmp_path / "p", "old", age=60)
    session(store, tmp_path / "p", "new")
    session(store, tmp_path / "p", "older", age=120)

    assert store.latest(tmp_path / "p").stem == "new"
    assert [s.id for s in store.of(tmp_path / "p")] == ["new", "old", "older"]


def test_a_folder_without_sessions_says_so(store: Store, tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="no session"):
        store.latest(tmp_path / "p")


def test_a_session_is_found_by_id_from_anywhere_by_its_beginning_and_by_file(store: Store, tmp_path: Path) -> None:
    path = session(store, tmp_path / "p", "1234-abcd")
    session(store, tmp_path / "p", "1299-abcd")

    assert store.find("1234-abcd", tmp_path / "elsewhere") == path
    assert store.find("1234", tmp_path / "p") == path
    assert store.find(str(path), tmp_path / "elsewhere") == path
    with pytest.raises(SessionError, match="2 sessions"):
        store.find("12", tmp_path / "p")
    with pytest.raises(SessionError, match="sessions list"):
        store.find("99", tmp_path / "p")
    with pytest.raises(SessionError, match="no session file"):
        store.find(str(tmp_path / "gone.jsonl"), tmp_path / "p")


def test_an_id_that_is_no_name_of_a_file_finds_nothing(store: Store, tmp_path: Path) -> None:
    session(store, tmp_path / "p", "1234")
    for wanted in ("", "..", "*", "x" * 5_000, "a\0b"):
        with pytest.raises(SessionError):
            store.find(wanted, tmp_path / "p")


def test_a_long_path_gets_a_short_folder_of_its_own(store: Store) -> None:
    one, two = Path("/" + "x" * 300 + "/one"), Path("/" + "x" * 300 + "/two")

    assert store.folder(one) != store.folder(two)
    assert max(len(store.folder(path).name) for path in (one, two)) < 255


def test_listing_shows_what_was_asked_first_and_passes_over_files_that_are_no_sessions(
    store: Store, tmp_path: Path
) -> None:
    session(store, tmp_path / "p", "s", prompt="mend  the\nbuild")
    (store.folder(tmp_path / "p") / "empty.jsonl").write_text("")
    (store.folder(tmp_path / "p") / "garbage.jsonl").write_bytes(b"\xff\x00[]\n3\n" + b"[" * 100_000)
    (store.folder(tmp_path / "p") / "folder.jsonl").mkdir()
    os.mkfifo(store.folder(tmp_path / "p") / "pipe.jsonl")
    (store.config_dir / "projects" / "stray").write_text("x")

    (found,) = [s for s in store.all() if s.project is not None]
    assert (found.id, found.first_prompt, found.project) == ("s", "mend the build", tmp_path / "p")
    assert {s.id for s in store.all()} == {"s", "empty", "garbage"}


def test_a_session_is_found_by_its_title_then_by_words_of_it(store: Store, tmp_path: Path) -> None:
    build = session(store, tmp_path / "p", "s-1", prompt="Mend the build/tests (again)")
    session(store, tmp_path / "p", "s-2", prompt="Mend the shed", age=60)
    session(store, tmp_path / "p", "s-3", prompt="Mend the shed and the roof", age=120)
    session(store, tmp_path / "q", "s-4", prompt="Mend the boat")

    assert store.find("mend the  build/tests (again)", tmp_path / "p") == build
    assert store.find("build", tmp_path / "p") == build
    assert store.find("Mend the shed", tmp_path / "p").stem == "s-2"
    with pytest.raises(SessionError, match=r"(?s)names 3 sessions.*s-1  Mend the build.*s-3"):
        store.find("mend", tmp_path / "p")
    with pytest.raises(SessionError, match="no session 'boat'"):
        store.find("boat", tmp_path / "p")


@pytest.mark.parametrize(
    "name",
    [
        *(
            "..",
            ".",
            "../x",
            "/",
            "~nobody-here/x",
            "~",
            "\0",
            "a\0.jsonl",
            "x" * 5_000,
            "x/" * 3_000,
            "x" * 5_000 + ".jsonl",
        ),
        *("*", "[a", "-", "--", " ", "\n", "é🦀", "\ud83d", "a\x1b[31m", "$(id)", "%s{}", ".jsonl", "C:\\x"),
    ],
)
def test_whatever_is_asked_for_is_a_session_or_said_to_be_none(store: Store, tmp_path: Path, name: str) -> None:
    session(store, tmp_path / "p", "1234-abcd")
    with pytest.raises(SessionError):
        store.find(name, tmp_path / "p")


def test_a_session_whose_folder_can_not_be_made_is_kept_elsewhere_and_that_is_told(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    told: list[str] = []
    path = store.path(tmp_path, "s")
    assert kept_somewhere(path, told.append) == path
    assert not path.parent.exists(), "to look makes nothing"

    store.config_dir.write_text("in its place")
    found = kept_somewhere(path, told.append)

    assert (found.name, found.parent.stat().st_mode & 0o777) == (path.name, 0o700)
    assert all(part in told[0] for part in (str(path.parent), "Not a directory", f"--resume {found}"))


def test_what_can_not_be_read_is_named_and_never_passed_over(store: Store, tmp_path: Path) -> None:
    session(store, tmp_path, "old", age=10)
    broken = session(store, tmp_path, "new")
    broken.unlink()
    broken.symlink_to(broken)

    with pytest.raises(SessionError, match=r"new\.jsonl can't be read: Too many levels.* new session"):
        store.latest(tmp_path)
    assert [path for path, _ in store.unreadable(tmp_path)] == [broken]


def test_a_folder_of_sessions_that_can_not_be_read_is_no_empty_one(store: Store, tmp_path: Path) -> None:
    store.config_dir.mkdir()
    (store.config_dir / "projects").write_text("in its place")

    for ask in (store.latest, store.of, partial(store.find, "s")):
        with pytest.raises(SessionError, match=r"projects/\S* can't be read: Not a directory"):
            ask(tmp_path)
