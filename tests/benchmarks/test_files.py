"""The benchmark of the file tools runs and prints a ratio for each search; figures themselves are not asserted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_tool_has_a_line_with_its_limit() -> None:
    argv = [sys.executable, "-m", "tests.benchmarks.files", "--files", "100", "--megabytes", "15", "--runs", "1"]
    lines = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()

    assert [line.split(" ")[0].rstrip(",") for line in lines] == ["Read", "Edit", "Glob", "Grep", "Grep", "Grep"]
    assert all("(<= " in line for line in lines)
