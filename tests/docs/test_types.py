"""A type checker helps an author: it takes the examples and listeners of every sort, and finds mistakes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.docs.pages import EXAMPLES

MISTAKES = Path(__file__).with_name("mistakes.py.txt")
LISTENERS = Path(__file__).with_name("listeners.py")


def test_mypy_in_strict_mode_takes_the_examples_and_listeners_and_finds_each_mistake(tmp_path: Path) -> None:
    mistakes = tmp_path / "mistakes.py"
    mistakes.write_text(MISTAKES.read_text(encoding="utf-8"), encoding="utf-8")
    packages = [str(package) for folder in EXAMPLES for package in (folder / "src").iterdir()]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--config-file=",
            "--no-error-summary",
            str(mistakes),
            str(LISTENERS),
            *packages,
        ],
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": os.pathsep.join(str(folder / "src") for folder in EXAMPLES)},
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [line for line in errors if not line.startswith("mistakes.py")] == [], done.stderr
    marked = {n for n, line in enumerate(mistakes.read_text(encoding="utf-8").splitlines(), 1) if "# wrong" in line}
    assert {int(line.split(":")[1]) for line in errors} == marked, done.stdout
