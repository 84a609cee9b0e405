"""`toolpost demo` as a process: the recorded model, the real loop and tools, and nothing of the machine's own settings."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    shutil.which("git") is None or shutil.which("python3") is None, reason="the demo needs git and python3"
)

TOOLPOST = str(Path(sys.executable).with_name("toolpost"))
MEND = "+    share, odd = divmod(cents, people)"


class Stage:
    """A home for the demo, and ways to play it."""

    def __init__(self, folder: Path) -> None:
        self.kept = folder / "kept"
        self.state = folder / "state"
        self._temp = folder / "temp"
        self._temp.mkdir()
        self._env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "TOOLPOST_CONFIG_DIR": str(self.state),
            "TMPDIR": str(self._temp),
            "TERM": "dumb",
        }

    def play(self, *flags: str) -> subprocess.CompletedProcess[str]:
        """Play it without a terminal."""
        return subprocess.run(
            [TOOLPOST, "demo", "--fast", *flags],
            env=self._env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    def answer(self, *answers: str, keep: bool = False) -> tuple[int, str]:
        """Play it in a terminal, with a line for each question."""
        ours, theirs = pty.openpty()
        flags = ["--keep", str(self.kept)] if keep else []
        process = subprocess.Popen(
            [TOOLPOST, "demo", "--fast", *flags],
            env=self._env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        said = _talk(ours, answers)
        os.close(ours)
        return process.wait(60), said

    def left(self) -> list[str]:
        """Name what lies in the folder for temporary files."""
        return sorted(path.name for path in self._temp.iterdir())


def _talk(terminal: int, answers: Sequence[str]) -> str:
    said, waiting = b"", list(answers)
    while True:
        try:
            data = os.read(terminal, 4096)
        except OSError:  # Linux ends a terminal that nobody holds any more so
            data = b""
        if not data:
            return said.decode().replace("\r\n", "\n")
        said += data
        if said.endswith(b"what to do instead: ") and waiting:
            os.write(terminal, waiting.pop(0).encode() + b"\n")


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path.resolve())


def test_it_ends_green_with_the_diff_the_costs_and_the_transcript(stage: Stage) -> None:
    done = stage.play("--yes")

    assert (done.returncode, done.stderr) == (0, "")
    assert "✔ green" in done.stdout
    assert MEND in done.stdout
    assert re.search(r"^replay +6 .*\$0\.00$", done.stdout, re.MULTILINE), "the table of costs"
    (transcript,) = stage.state.glob("projects/*/*.jsonl")
    assert f"Transcript: {transcript}" in done.stdout
    assert stage.left() == []


def test_where_the_edit_is_refused_it_ends_red_and_nothing_is_changed(stage: Stage) -> None:
    code, said = stage.answer("1", "leave it alone", keep=True)

    assert code == 1
    assert "They said: leave it alone" in said
    assert "✗ red: FAILED (failures=1)" in said
    assert "share = cents // people" in (stage.kept / "tally" / "money.py").read_text()


def test_answered_by_hand_it_ends_green(stage: Stage) -> None:
    code, said = stage.answer("y", "1", "yes")

    assert (code, said.count("→ Yes")) == (0, 3)
    assert "✔ green" in said
    assert stage.left() == []


def test_what_it_does_follows_from_the_files_under_it(stage: Stage) -> None:
    keep = ("--yes", "--keep", str(stage.kept))
    assert MEND in stage.play(*keep).stdout
    money = stage.kept / "tally" / "money.py"
    mended = money.read_text()

    again = stage.play(*keep)
    assert again.returncode == 0
    assert "all pass already" in again.stdout
    assert money.read_text() == mended

    # Of another length: Python takes old bytecode for a file of the same size that changed within the same second.
    money.write_text(mended.replace("if people < 1", "if people < -1"))
    other = stage.play(*keep)
    assert other.returncode == 1
    assert "✗ red" in other.stdout
    assert "That is not the failing test I was told about" in other.stdout


def test_a_folder_with_something_else_in_it_is_left_alone(stage: Stage) -> None:
    stage.kept.mkdir()
    (stage.kept / "thesis.txt").write_text("years of work")
    done = stage.play("--yes", "--keep", str(stage.kept))

    assert (done.returncode, done.stdout) == (2, "")
    assert "holds something else" in done.stderr
    assert [path.name for path in stage.kept.iterdir()] == ["thesis.txt"]
