from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from toolpost import KeptSession, LaunchOptions
from toolpost_frontend_demo import Demo, project

pytestmark = pytest.mark.skipif(
    shutil.which("git") is None, reason="git is not installed: the demo works in a git project"
)

FIXED = "    share, odd = divmod(cents, people)\n    return [share + 1] * odd + [share] * (people - odd)\n"
BROKEN = "    share = cents // people\n    return [share] * people\n"


def mend(folder: Path) -> int:
    file = folder / project.MARK
    file.write_text(file.read_text().replace(BROKEN, FIXED))
    return 0


def do_nothing(folder: Path) -> int:
    return 0


@dataclass
class PlayingHost:
    """A host whose terminal front end does `work` in the project's folder."""

    options: LaunchOptions
    work: Callable[[Path], int]
    launched: list[tuple[str, LaunchOptions]] = field(default_factory=list)
    version: str = "1.2.3"

    def untrusted(self) -> Sequence[str]:
        raise AssertionError("the demo's folder is its own")

    def trust(self, trusted: bool) -> None:
        raise AssertionError("the demo's folder is its own")

    async def launch(self, frontend: str, options: LaunchOptions) -> int:
        assert options.cwd is not None
        self.launched.append((frontend, options))
        return self.work(options.cwd)

    def sessions(self) -> Sequence[KeptSession]:
        raise AssertionError("the demo goes on with no session")

    def open(self, options: LaunchOptions, ask: Any = None) -> Any:
        raise AssertionError("the demo leaves the session to the terminal")


async def play(work: Callable[[Path], int], **extra: Any) -> tuple[int, PlayingHost]:
    host = PlayingHost(LaunchOptions(extra={"yes": True, "fast": True, **extra}), work)
    return await Demo().run(host), host


async def test_the_project_has_one_failing_test_and_one_mend(tmp_path: Path) -> None:
    assert await project.lay_out(tmp_path / "p")
    before = await project.tests(tmp_path / "p")
    assert not before.ok
    assert "FAILED (failures=1)" in before.text
    assert "999 != 1000" in before.text
    mend(tmp_path / "p")
    assert (await project.tests(tmp_path / "p")).ok
    assert "+    share, odd = divmod(cents, people)" in await project.diff(tmp_path / "p")


async def test_the_recorded_edit_fits_the_project_and_mends_it(tmp_path: Path) -> None:
    cassette = Path(project.__file__).with_name("cassette.jsonl")
    answers = [json.loads(line) for line in cassette.read_text().splitlines()]
    (edit,) = [answer["input"] for answer in answers if answer.get("call") == "Edit"]
    await project.lay_out(tmp_path / "p")
    file = tmp_path / "p" / project.MARK
    assert file.read_text().count(edit["old_string"]) == 1
    file.write_text(file.read_text().replace(edit["old_string"], edit["new_string"]))
    assert (await project.tests(tmp_path / "p")).ok


async def test_a_mended_test_is_a_success_and_the_folder_is_gone(capsys: pytest.CaptureFixture[str]) -> None:
    code, host = await play(mend)
    assert code == 0
    said = capsys.readouterr().out
    assert "green" in said
    assert "+    share, odd = divmod(cents, people)" in said
    folder = host.launched[0][1].cwd
    assert folder is not None
    assert not folder.exists()
    assert f"{folder} is removed" in said.replace("\n", "")


async def test_a_test_that_stays_red_is_a_failure_whatever_the_run_said(capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = await play(do_nothing)
    assert code == 1
    assert "red" in capsys.readouterr().out


async def test_a_run_that_failed_is_a_failure_although_the_test_is_green() -> None:
    def mend_and_fail(folder: Path) -> int:
        mend(folder)
        return 1

    assert (await play(mend_and_fail))[0] == 1


async def test_an_interrupted_run_is_not_judged(capsys: pytest.CaptureFixture[str]) -> None:
    code, host = await play(lambda _: 130)
    assert code == 130
    said = capsys.readouterr().out
    assert "red" not in said
    assert f"{host.launched[0][1].cwd} is removed" in said.replace("\n", "")


async def test_the_run_is_that_of_a_recorded_model_without_anybodys_settings() -> None:
    _, host = await play(mend)
    ((frontend, options),) = host.launched
    assert frontend == "terminal"
    assert (options.provider, options.setting_sources, options.permission_mode) == ("replay", (), "default")
    assert options.extra["once"] is True
    assert options.extra["yes"] is True


async def test_a_kept_folder_stays_and_is_used_again_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    assert (await play(mend, keep=str(folder)))[0] == 0
    assert (folder / ".git").is_dir()
    (folder / "notes.txt").write_text("mine")
    assert (await play(do_nothing, keep=str(folder)))[0] == 0, "it was mended before"
    assert (folder / "notes.txt").read_text() == "mine"


async def test_a_folder_with_something_else_in_it_is_refused_and_stays_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    code, host = await play(mend, keep=str(tmp_path))
    assert code == 2
    assert host.launched == []
    assert os.listdir(tmp_path) == ["thesis.txt"]  # noqa: PTH208 - nothing waits for a test
    assert "holds something else" in capsys.readouterr().err


async def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert (await play(mend, keep=str(tmp_path / "file" / "below")))[0] == 2
    said = capsys.readouterr().err
    assert f"can't be written to {tmp_path / 'file' / 'below'}" in said


async def test_a_project_without_its_git_folder_is_not_the_demos(tmp_path: Path) -> None:
    (tmp_path / project.MARK).parent.mkdir()
    (tmp_path / project.MARK).write_text("x = 1\n")
    assert (await play(mend, keep=str(tmp_path)))[0] == 2
    assert (tmp_path / project.MARK).read_text() == "x = 1\n"


async def test_without_a_terminal_the_questions_need_yes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    code, host = await play(mend, yes=False)
    assert code == 2
    assert host.launched == []
    assert "--yes" in capsys.readouterr().err


async def test_the_persons_own_git_settings_stay_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".gitconfig").write_text("[commit]\n\tgpgsign = true\n[core]\n\thooksPath = /nowhere\n[broken\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other.git"))
    assert await project.lay_out(tmp_path / "p")
    assert (tmp_path / "p" / ".git").is_dir()
    assert not (tmp_path / "other.git").exists()
