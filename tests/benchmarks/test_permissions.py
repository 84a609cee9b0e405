"""The benchmark of permission decisions runs and prints each figure with its limit; figures themselves are not asserted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_figure_has_a_line_with_its_limit() -> None:
    argv = [sys.executable, "-m", "tests.benchmarks.permissions", "--rules", "100", "--runs", "1"]
    lines = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()

    assert lines.pop(0).startswith("for scale, ")
    assert [line.rpartition("(<= ")[2][:1] for line in lines] == ["3"] * 6 + ["5"] * 4
    assert all(" parts: " in line for line in lines[:6])
    assert all(line.endswith(" x as with 10") for line in lines[6:])
