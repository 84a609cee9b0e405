"""Times a command in the sandbox beside the bare one, in one run: `python -m tests.benchmarks.sandbox`; see README.md."""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from toolpost import Confinement, PermissionScope, PermissionState, Processes, Sandbox, Sandboxes, Wrapped
from toolpost.testing import make_context, make_scope
from toolpost_sandbox_bubblewrap import Bubblewrap
from toolpost_service_confinement.service import SettingsConfinement
from toolpost_service_processes.local import LocalProcesses

COMMAND: Final = ("bash", "--norc", "--noprofile", "-c", "true")
LIMIT_MS: Final = 15
SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "sandbox, no network": {"enabled": True},
    "sandbox, with a gateway": {"enabled": True, "network": {"allowedDomains": ["example.com"]}},
}


@dataclass(frozen=True)
class State:
    """The state of a session whose sandbox is bubblewrap."""

    scope: PermissionScope
    rules: Sequence[Any] = ()

    def usable(self) -> Sandbox:
        """Return bubblewrap."""
        return Bubblewrap()


def main(argv: Sequence[str]) -> None:
    """Measure, and print one line a figure."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.sandbox", description="Time a command in the sandbox beside the bare one."
    )
    parser.add_argument("--runs", type=int, default=50, help="runs of each after the one that warms up (50)")
    options = parser.parse_args(argv)
    missing = Bubblewrap().unusable()
    if missing:
        print(missing)
        return
    with tempfile.TemporaryDirectory(prefix="toolpost-benchmark-") as made:
        for line in asyncio.run(_measure(Path(made).resolve(), options.runs)):
            print(line)


async def _measure(folder: Path, runs: int) -> list[str]:
    (folder / ".git/hooks").mkdir(parents=True)
    (folder / ".git/config").touch()
    processes = LocalProcesses()
    sandboxes = {name: _confinement(folder, settings) for name, settings in SETTINGS.items()}
    taken: dict[str, list[float]] = {"bare": [], **{name: [] for name in sandboxes}}
    for run in range(runs + 1):
        for name, samples in taken.items():
            seconds = await _once(processes, sandboxes.get(name), folder)
            if run:
                samples.append(seconds * 1000)
    for confinement in sandboxes.values():
        await confinement.aclose()
    await processes.aclose()
    medians = {name: statistics.median(samples) for name, samples in taken.items()}
    bare = medians.pop("bare")
    more = [f"{name}: {ms:.1f} ms, {ms - bare:.1f} ms above it (limit {LIMIT_MS})" for name, ms in medians.items()]
    return [f"bare: {bare:.1f} ms", *more]


def _confinement(folder: Path, settings: Mapping[str, Any]) -> SettingsConfinement:
    state = State(replace(make_context(folder).scope, sandbox=settings))
    return SettingsConfinement(make_scope(folder, services={PermissionState: state, Sandboxes: state}))


async def _once(processes: Processes, confinement: Confinement | None, folder: Path) -> float:
    """Run the command once, with all that is done for it before and after; return the seconds."""
    env = dict(os.environ)
    started = time.perf_counter()
    wrapped = Wrapped(argv=COMMAND, env=env) if confinement is None else await confinement.enter(COMMAND, env=env)
    done = await processes.run(wrapped.argv, cwd=folder, env=wrapped.env, pass_fds=wrapped.pass_fds)
    await wrapped.finish()
    seconds = time.perf_counter() - started
    if done.returncode:
        raise RuntimeError(done.errors.decode(errors="replace"))
    return seconds


if __name__ == "__main__":
    main(sys.argv[1:])
