"""The benchmark of the sandbox runs and prints what each way costs; figures themselves are not asserted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_way_has_a_line_with_its_limit() -> None:
    argv = [sys.executable, "-m", "tests.benchmarks.sandbox", "--runs", "1"]
    lines = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()

    assert lines[0].startswith("bare: ") or len(lines) == 1
    assert all("(limit 15)" in line for line in lines[1:])
