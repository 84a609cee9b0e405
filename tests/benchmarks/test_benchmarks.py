"""The benchmark program runs and prints what it found; figures themselves are not asserted."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BARE_LOOP = shlex.join([sys.executable, str(Path(__file__).with_name("bare_loop.py")), "httpx2"])


def benchmark(*arguments: str) -> str:
    argv = [sys.executable, "-m", "tests.benchmarks", *arguments]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_the_startup_of_every_client_is_a_table_with_ratio_and_target() -> None:
    head, _, *rows = benchmark("--only", "startup", "--runs", "1", "--command", BARE_LOOP).splitlines()
    for column in ("toolpost", "httpx2", "anthropic", "python (--command)", "toolpost / httpx2", "target"):
        assert column in head.replace("python3", "python")
    to_first = next(row for row in rows if "exec to first request" in row)
    assert "<= 2 x httpx2" in to_first
    assert sum(cell.replace(".", "").isdigit() for cell in to_first.split()) >= 4


def test_clients_that_fail_are_named_and_the_others_have_their_figures() -> None:
    skips = shlex.join([sys.executable, "-c", "pass"])
    arguments = ["--only", "startup", "--runs", "1", "--json", "--command", skips, "--", "--no-such-flag"]
    found = json.loads(benchmark(*arguments))
    failed = {failure["client"]: failure["reason"] for failure in found["failures"]}
    asked_nothing = next(reason for client, reason in failed.items() if client.endswith("(--command)"))
    assert asked_nothing.startswith("sent 0 requests")
    assert failed["toolpost"].startswith("exit status 2")
    assert set(found["rows"][0]["medians"]) == {"httpx2", "anthropic"}
