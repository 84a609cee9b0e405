"""Times events and configured hooks beside what they can't do without, in one run: `python -m tests.benchmarks.hooks`."""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, cast

from toolpost import Event, EventBase, PreToolUse, Stash, StopEvent, on
from toolpost._hooks import PROJECT
from toolpost.events._base import Origin
from toolpost.testing import FakeModel, SessionHarness
from toolpost_core.events.dispatch import Dispatcher
from toolpost_core.plugins.hooks import HookTable
from toolpost_core.session.session import Session
from toolpost_hook_runner_command import CommandRunner
from toolpost_lifecycle_settings_hooks import SettingsHooks
from toolpost_service_processes import ProcessesService

LISTENERS: Final = 10
PARALLEL: Final = 50
SLOW: Final = "cat > /dev/null; sleep 1"
QUICK: Final = "cat > /dev/null"
CALL: Final = PreToolUse(tool_name="Bash", tool_input={"command": "true"}, tool_use_id="t1")


def main(argv: Sequence[str]) -> None:
    """Measure, and print a line for each figure."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.hooks",
        description="Time events and hooks beside the bare listener and process.",
    )
    parser.add_argument("--runs", type=int, default=50, help="events that are timed (50); of the slow ones, three")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="toolpost-benchmark-") as made:
        for line in asyncio.run(_measure(Path(made).resolve(), options.runs)):
            print(line)


async def _measure(folder: Path, runs: int) -> list[str]:
    lines = []
    for event, value in ((on.pre_tool_use, CALL), (on.stop, StopEvent())):
        through, bare, gathered = await _in_process(event, value, runs * 20)
        how = "in turn" if event.rewrites is not None else "side by side"
        added = f"{through - bare:.1f} us above awaiting them ({bare:.1f} us; asyncio.gather: {gathered:.1f} us)"
        lines.append(f"event with {LISTENERS} listeners {how}: {added} (<= 20 us)")
    one, alone = await _command(folder, runs)
    ratios = [await _in_parallel(folder) for _ in range(min(runs, 3))]
    return [
        *lines,
        f"command hook: {one - alone:.1f} ms above the bare process ({alone:.1f} ms) (<= 5 ms)",
        f"{PARALLEL} command hooks at once: {min(ratios):.2f} x one alone (<= 2 x)",
    ]


async def _in_process(event: Event[Any, Any], value: EventBase, calls: int) -> tuple[float, float, float]:
    """Return the microseconds of one event through the dispatcher, of awaiting its listeners, and of gathering them.

    The best of each: what listeners that run side by side cost at least is what asyncio takes for that.
    """

    async def listener(event: EventBase) -> None:
        del event

    manager = HookTable(PROJECT)
    for number in range(LISTENERS):
        hear = staticmethod(event(listener))
        manager.register(type("Plugin", (), {"hear": hear})(), f"lifecycle/p{number:02}")
    here, stash = Path("/here"), Stash()

    def origin() -> Origin:
        """Describe the session, as a real one does for each event."""
        return Origin(session_id="s1", transcript_path=here, cwd=here, project=here, prompt_id="p1", stash=stash)

    events = Dispatcher(manager, lambda _: None, origin)
    through, bare, gathered = [], [], []
    for _ in range(calls):
        started = time.perf_counter()
        await events.emit(event, value)
        emitted = time.perf_counter()
        for _ in range(LISTENERS):
            await listener(value)
        awaited = time.perf_counter()
        await asyncio.gather(*(listener(value) for _ in range(LISTENERS)))
        through.append(emitted - started)
        bare.append(awaited - emitted)
        gathered.append(time.perf_counter() - awaited)
    return 1e6 * min(through), 1e6 * min(bare), 1e6 * min(gathered)


async def _command(folder: Path, runs: int) -> tuple[float, float]:
    """Return the milliseconds of one event with a command hook, and of its process alone, in turn: the best of each."""
    hooked, alone = [], []
    async with _session(folder, [QUICK]) as session:
        for number in range(runs + 1):
            seconds = await _fired(session)
            bare = _bare(folder)
            if number:
                hooked.append(seconds)
                alone.append(bare)
    return 1000 * min(hooked), 1000 * min(alone)


async def _in_parallel(folder: Path) -> float:
    async with _session(folder, [SLOW]) as session:
        await _fired(session)
        one = await _fired(session)
    async with _session(folder, [f"{SLOW}; : {number}" for number in range(PARALLEL)]) as session:
        return await _fired(session) / one


@asynccontextmanager
async def _session(folder: Path, commands: Sequence[str]) -> AsyncIterator[Session]:
    entries: list[dict[str, Any]] = [{"type": "command", "command": command} for command in commands]
    harness = SessionHarness(
        folder,
        FakeModel(),
        plugins=[SettingsHooks(), CommandRunner(), ProcessesService()],
        env={"PATH": os.environ["PATH"]},
        settings={"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": entries}]}},
    )
    async with harness.session() as session:
        yield cast("Session", session)


async def _fired(session: Session) -> float:
    started = time.perf_counter()
    await session.events.emit(on.pre_tool_use, CALL)
    return time.perf_counter() - started


def _bare(folder: Path) -> float:
    started = time.perf_counter()
    given = b'{"hook_event_name": "PreToolUse"}\n'
    subprocess.run(["/bin/sh", "-c", QUICK], cwd=folder, input=given, capture_output=True, check=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    main(sys.argv[1:])
