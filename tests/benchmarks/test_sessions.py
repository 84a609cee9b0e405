"""The benchmark of sessions runs and prints its figures; the figures themselves are not asserted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_measure_has_a_line() -> None:
    small = ["--messages", "50", "--lines", "300", "--megabytes", "1", "--sessions", "20", "--runs", "1"]
    argv = [sys.executable, "-m", "tests.benchmarks.sessions", *small]
    lines = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()

    assert [line.split(" ")[0] for line in lines] == ["Resume", "Resume", "Resume", "List"]
    assert "List of 20 sessions" in lines[-1]
    assert "never compacted" in lines[2]
