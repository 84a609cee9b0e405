"""A search reads a bounded part of what was said."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolpost_core.transcripts import searching
from toolpost_core.transcripts.listing import look
from toolpost_core.transcripts.searching import Search
from toolpost_core.transcripts.transcript import Transcript


def said(path: Path, *texts: str) -> Path:
    file = Transcript(path, path.stem, "0", pytest.fail)
    for text in texts:
        file.message("user", {"role": "user", "content": [{"type": "text", "text": text}]}, Path("/p"))
    file.close()
    return path


def found(search: Search, path: Path) -> str | None:
    session = look(path)
    assert session is not None
    return search.found(session)


def test_of_a_long_session_the_end_is_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = said(tmp_path / "s.jsonl", "a title", "once there was a word", "x" * 2_000, "and then another")
    monkeypatch.setattr(searching, "FILE_BYTES", 1_000)

    early, late = Search("word"), Search("another")
    assert (found(early, path), early.partly) == (None, 1)
    assert (found(late, path), late.partly) == ("and then another", 0)


def test_one_bound_is_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [said(tmp_path / f"{n}.jsonl", "a title", "the word") for n in range(3)]
    monkeypatch.setattr(searching, "ALL_BYTES", sum(path.stat().st_size for path in paths[:2]))

    search = Search("word")
    assert [found(search, path) for path in paths] == ["the word", "the word", None]
    assert search.partly == 1
    assert found(Search("TITLE"), paths[2]) == ""


def test_what_is_found_is_shown_with_what_stands_around_it(tmp_path: Path) -> None:
    path = said(tmp_path / "s.jsonl", "a title", "a " * 50 + "needle\n" + " b" * 50)
    assert found(Search("needle"), path) == "…" + "a " * 15 + "needle" + " b" * 14 + "…"
    assert found(Search("needle thread"), path) is None


def test_what_the_program_added_for_the_model_is_not_searched(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    file = Transcript(path, "s", "0", pytest.fail)
    content = [{"type": "text", "text": text} for text in ("instructions", "prompt")]
    file.message("user", {"role": "user", "content": content}, Path("/p"), promptAt=1)
    file.message("user", {"role": "user", "content": "reminder"}, Path("/p"), isMeta=True)
    file.close()

    assert found(Search("instructions"), path) is None
    assert found(Search("reminder"), path) is None
    assert found(Search("prompt"), path) == ""


def test_a_session_that_was_removed_meanwhile_is_none(tmp_path: Path) -> None:
    path = said(tmp_path / "s.jsonl", "a title", "the word")
    session = look(path)
    path.unlink()
    assert session is not None
    assert Search("word").found(session) is None
