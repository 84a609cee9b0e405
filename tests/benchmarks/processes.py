"""Runs a program once and says what it took, alone or against the scenario server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_SERVER = Path(__file__).with_name("scenario_server.py")


class RunFailedError(Exception):
    """Raised when a program did not do what was to be measured; says what it did."""


@dataclass(frozen=True)
class Run:
    """One run of a program; `started` and `exited` are of the monotonic clock, times are in seconds."""

    started: float
    exited: float
    cpu: float
    peak_mb: float
    requests: Sequence[Mapping[str, Any]] = field(default=())

    @property
    def wall(self) -> float:
        """From just before it was started until it was gone."""
        return self.exited - self.started


def run(argv: Sequence[str], env: Mapping[str, str], cwd: Path, limit: float = 60.0) -> Run:
    """Run a program to its end; raises RunFailedError for a status other than 0 and after `limit` seconds."""
    with tempfile.TemporaryFile() as errors:
        started = time.monotonic()
        process = subprocess.Popen(
            argv,
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        timer = threading.Timer(limit, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        exited = time.monotonic()
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise RunFailedError(_reason(process.returncode, exited - started >= limit, errors.read()))
    return Run(started, exited, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def _reason(status: int, late: bool, errors: bytes) -> str:
    lines = errors.decode(errors="replace").strip().splitlines() or ["nothing on stderr"]
    return f"{'ended for its time limit' if late else f'exit status {status}'}: {lines[-1][:200]}"


def converse(argv: Sequence[str], env: Mapping[str, str], cwd: Path, scenario: Sequence[str], turns: int) -> Run:
    """Run a client against a scenario of so many turns; raises RunFailedError unless it asked once for each."""
    with _served(scenario) as (url, records):
        done = run(argv, {**env, "ANTHROPIC_BASE_URL": url}, cwd, limit=60 + turns)
    asked = [record for record in records if record["asks"]]
    if len(asked) != turns:
        raise RunFailedError(f"sent {len(asked)} requests with tools to /v1/messages, {turns} were to come")
    return Run(done.started, done.exited, done.cpu, done.peak_mb, asked)


@contextmanager
def _served(scenario: Sequence[str]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve a scenario; what the server saw is in the list once the block has ended."""
    records: list[dict[str, Any]] = []
    argv = [sys.executable, "-I", "-S", str(_SERVER), *scenario]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = server.stdout.readline().split()[1]
        try:
            yield f"http://127.0.0.1:{port}", records
        finally:
            seen, _ = server.communicate()
            records += map(json.loads, seen.splitlines())
