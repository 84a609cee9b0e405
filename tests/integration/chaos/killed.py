"""The program as a process of its own, killed with -9 at any moment and resumed until the work is done."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from mock_messages.server import MockMessagesApi
from tests.integration.chaos.in_process import REQUESTS, environment
from tests.integration.chaos.invariants import broken_by_files, broken_by_requests, broken_by_transcript, left_behind
from tests.integration.chaos.patience import LIMIT, while_it_goes_on
from tests.integration.chaos.scenario import Model, lay_out

TOOLPOST: Final = str(Path(sys.executable).with_name("toolpost"))
KILLS: Final = 4
"""How often a run is killed."""
SECONDS: Final = 0.9
"""Within which time after its start a process is killed: the whole scenario takes longer."""


@dataclass
class KilledRun:
    """What became of one run that was killed and resumed."""

    seed: int
    kills: list[float] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    @property
    def faults(self) -> int:
        """How often it was disturbed."""
        return len(self.kills)

    def __str__(self) -> str:
        moments = ", ".join(f"{seconds:.3f} s" for seconds in self.kills)
        return f"seed {self.seed}: {'; '.join(self.broken) or 'all holds'} (killed after {moments})"


async def killed_run(seed: int, folder: Path, wanted: Mapping[str, str]) -> KilledRun:
    """Lead one session through the scenario in several processes and hold it against the invariants."""
    run, random = KilledRun(seed), Random(seed)
    project = folder / "project"
    lay_out(project)
    api = MockMessagesApi([Model(project).answer] * REQUESTS)
    async with api:
        try:
            async with while_it_goes_on(lambda: len(api.requests)):
                await _through(api, project, random, run)
        except TimeoutError:
            run.broken.append(f"nothing came of it for {LIMIT:g} s")
        finally:
            run.broken += api.take_violations()
    run.broken += [*broken_by_files(project, wanted), *broken_by_requests(api.requests)]
    for path in (folder / "state").glob("projects/*/*.jsonl"):
        run.broken += broken_by_transcript(path, cut_lines=len(run.kills))
    run.broken += await _left_soon(folder)
    return run


async def _through(api: MockMessagesApi, project: Path, random: Random, run: KilledRun) -> None:
    for part in (1, 2, 3):
        prompt = f"part {part}"
        while not await _ended(api, project, prompt, random, run):
            if _submitted(project, prompt):
                prompt = "go on"


async def _ended(api: MockMessagesApi, project: Path, prompt: str, random: Random, run: KilledRun) -> bool:
    """Start the program and kill it if it is to be killed; returns whether it came to its end."""
    process = await _start(api, project, prompt)
    if len(run.kills) < KILLS:
        after = random.uniform(0.1, SECONDS)
        try:
            async with asyncio.timeout(after):
                await process.wait()
        except TimeoutError:
            process.kill()
            run.kills.append(after)
    out, err = await process.communicate()
    if process.returncode == -9:
        return False
    if process.returncode or not json.loads(out)["result"].startswith("Part"):
        run.broken.append(f"{prompt!r} ended with {process.returncode}: {out[-500:]!r} {err[-500:]!r}")
    return True


async def _start(api: MockMessagesApi, project: Path, prompt: str) -> Process:
    going_on: Sequence[str] = ("--continue",) if _sessions(project) else ()
    options = ("--output-format", "json", "--dangerously-skip-permissions", "--provider", "anthropic", *going_on)
    env = environment(project, api.url)
    return await asyncio.create_subprocess_exec(
        TOOLPOST, "-p", prompt, *options, cwd=project, env=env, stdin=DEVNULL, stdout=PIPE, stderr=PIPE
    )


def _sessions(project: Path) -> list[Path]:
    return [path for path in (project.parent / "state").glob("projects/*/*.jsonl") if path.stat().st_size]


def _submitted(project: Path, prompt: str) -> bool:
    """Whether a prompt reached the transcript before the kill."""
    return any(f'"text":"{prompt}"' in path.read_text() for path in _sessions(project))


async def _left_soon(folder: Path) -> list[str]:
    """Return what is left 2 s after the end: processes of a killed program are ended by whoever watches over them."""
    left: list[str] = []
    for _ in range(40):
        if not (left := left_behind(folder)):
            break
        await asyncio.sleep(0.05)
    return left
