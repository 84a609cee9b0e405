"""The benchmark of compaction runs and prints each figure with its limit; figures themselves are not asserted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_history_has_a_line_with_its_limit() -> None:
    argv = [sys.executable, "-m", "tests.benchmarks.compaction", "--tokens", "20000", "--runs", "1"]
    lines = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()

    assert [line.split(",")[0] for line in lines] == ["long results", "short results"]
    assert all(line.endswith(" ms (<= 20)") for line in lines)
