"""The benchmark of hooks runs and prints each figure with its limit; figures themselves are not asserted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_figure_has_a_line_with_its_limit() -> None:
    argv = [sys.executable, "-m", "tests.benchmarks.hooks", "--runs", "1"]
    lines = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()

    assert [line.partition(":")[0] for line in lines] == [
        "event with 10 listeners in turn",
        "event with 10 listeners side by side",
        "command hook",
        "50 command hooks at once",
    ]
    assert all("(<= " in line for line in lines)
