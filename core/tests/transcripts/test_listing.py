"""A list of sessions is made of heads and tails."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from toolpost_core.transcripts.branches import Branches
from toolpost_core.transcripts.kinds import TITLE
from toolpost_core.transcripts.listing import END, SessionFile, look
from toolpost_core.transcripts.transcript import Transcript


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def filled(path: Path, prompt: str, kilobytes: int = 0, title: str | None = None) -> Transcript:
    """A session of a prompt and so many kilobytes of answers; the title was given at its beginning."""
    file = Transcript(path, path.stem, "0", pytest.fail)
    message = {"role": "user", "content": [{"type": "text", "text": "instructions"}, *said("user", prompt)["content"]]}
    file.message("user", message, Path("/p"), promptAt=1)
    if title is not None:
        file.state(TITLE, customTitle=title)
    for _ in range(kilobytes):
        file.message("assistant", said("assistant", "x" * 1_000), Path("/p/sub"))
    return file


def seen(path: Path) -> SessionFile:
    session = look(path)
    assert session is not None
    return session


def test_it_tells_what_a_session_is_called_where_and_when(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    filled(path, "mend  the\nbuild", 3).close()
    session = seen(path)

    assert (session.title, session.project, session.cwd) == ("mend the build", Path("/p"), Path("/p/sub"))
    assert session.size == path.stat().st_size
    assert session.created.startswith("20")


def test_a_given_title_is_found_however_much_was_said_since(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    filled(path, "mend", 400, "Mending").close()

    assert (seen(path).title, seen(path).first_prompt) == ("Mending", "mend")


def test_no_more_is_read_than_two_ends(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    filled(path, "mend", 400, "Mending").close()
    with path.open("r+b") as file:
        file.seek(END + 1_000)
        file.write(b"\0" * (path.stat().st_size - 2 * END - 2_000))

    assert seen(path).title == "Mending"


def test_a_first_prompt_that_is_long_gives_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    filled(path, "look at this: " + "y" * 300_000, 100).close()
    assert seen(path).title.startswith("look at this: yyy")


def test_a_first_record_that_is_too_long_to_be_read_still_says_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    filled(path, "mend", 100).close()
    first, _, rest = path.read_bytes().partition(b"\n")
    path.write_bytes(first.replace(b'"mend"', b'"' + b"z" * 3_000_000 + b'"') + b"\n" + rest)

    assert (seen(path).title, seen(path).project) == ("", Path("/p"))


def test_the_conversation_of_a_sub_agent_is_no_session(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    file = Transcript(path, "s", "0", pytest.fail, marks={"isSidechain": True, "agentId": "a1"})
    file.message("user", said("user", "look"), Path("/p"))
    file.close()

    assert look(path) is None


@pytest.mark.parametrize(
    "lines", [b"", b"{", b"[]\n3\n", b"\xff\x00\n", b"[" * 100_000, b'{"type":"user","message":3}\n']
)
def test_a_file_of_anything_is_looked_at_without_harm(tmp_path: Path, lines: bytes) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines)
    assert seen(path).project is None


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def test_the_branch_is_the_one_that_was_worked_on_last(tmp_path: Path) -> None:
    repository, path = tmp_path / "r", tmp_path / "s.jsonl"
    (repository / "deep").mkdir(parents=True)
    git(repository, "init", "-b", "main")
    git(repository, "commit", "--allow-empty", "-m", "one")
    file = Transcript(path, "s", "0", pytest.fail)
    file.message("user", said("user", "hi"), repository / "deep")
    assert seen(path).branch == "main"

    git(repository, "checkout", "-b", "feature/x")
    file.message("assistant", said("assistant", "hi"), repository / "deep")
    file.close()
    assert seen(path).branch == "feature/x"
    assert json.loads(path.read_text().splitlines()[0])["gitBranch"] == "main"


def test_a_worktree_has_its_own_branch_and_a_lone_commit_its_number(tmp_path: Path) -> None:
    repository = tmp_path / "r"
    repository.mkdir()
    git(repository, "init", "-b", "main")
    git(repository, "commit", "--allow-empty", "-m", "one")
    git(repository, "worktree", "add", "-b", "other", str(tmp_path / "w"))
    branches = Branches()

    assert (branches.of(repository), branches.of(tmp_path / "w"), branches.of(tmp_path)) == ("main", "other", "")
    git(repository, "checkout", "--detach")
    assert len(branches.of(repository)) == 12
