"""A session in this process, with faults of the service, of the model and of the person in front of it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from mock_messages.server import MockMessagesApi
from tests.integration.chaos.faults import ALL, IDLE_MS, NO_FAULT, SUMMARY, TOO_LONG, Fault, Faulty, names
from tests.integration.chaos.invariants import broken_by_files, broken_by_requests, broken_by_transcript, left_behind
from tests.integration.chaos.patience import LIMIT, while_it_goes_on
from tests.integration.chaos.scenario import PARTS, Model, lay_out

from toolpost import LaunchOptions, RunResult, SessionEvent
from toolpost_core.api import open_session
from toolpost_core.session.session import Session
from toolpost_core.transcripts.history import read

REQUESTS: Final = 600
TRIES: Final = 60
"""How often a run may have to be told to go on before it counts as one that never ends."""
INTERRUPTIONS: Final = 0.15
"""How many prompts are interrupted by the person."""


@dataclass
class ChaosRun:
    """What became of one run."""

    seed: int
    met: list[str] = field(default_factory=list)
    interrupted: int = 0
    broken: list[str] = field(default_factory=list)

    @property
    def faults(self) -> int:
        """How often it was disturbed."""
        return self.interrupted + sum(name not in (NO_FAULT, SUMMARY) for name in self.met)

    def __str__(self) -> str:
        return f"seed {self.seed}: {'; '.join(self.broken) or 'all holds'} ({names(self.met)})"


async def chaos_run(seed: int, folder: Path, wanted: Mapping[str, str], faults: Mapping[str, Fault] = ALL) -> ChaosRun:
    """Lead one session through the scenario and hold it against the invariants."""
    run, random = ChaosRun(seed), Random(seed)
    project = folder / "project"
    lay_out(project)
    faulty = Faulty(Model(project), random, faults)
    api = MockMessagesApi([faulty] * REQUESTS)
    run.met = faulty.met
    async with api:
        try:
            async with while_it_goes_on(lambda: len(api.requests)):
                path = await _through(api, project, random, run)
        except TimeoutError as error:
            run.broken.append(str(error) or f"nothing came of it for {LIMIT:g} s")
            return run
        finally:
            run.broken += api.take_violations()
    run.broken += [*broken_by_files(project, wanted), *broken_by_transcript(path)]
    run.broken += [*broken_by_requests(api.requests, _shortened(run.met)), *left_behind(folder)]
    return run


async def _through(api: MockMessagesApi, project: Path, random: Random, run: ChaosRun) -> Path:
    options = LaunchOptions(cwd=project, permission_mode="bypassPermissions", trust=True, provider="anthropic")
    async with open_session(options, env=environment(project, api.url)) as session:
        for part in range(1, PARTS + 1):
            prompt, tries = f"part {part}", 0
            while (result := await _submit(session, prompt, random, run)).text.strip() != f"Part {part} is done.":
                taken_out = any(
                    "taken out" in error for error in result.errors
                )  # and the person is told to send it again
                prompt, tries = prompt if taken_out else "go on", tries + 1
                if tries > TRIES:
                    raise TimeoutError(f"part {part} does not end: {result}")
        path = session.transcript_path
        assert path is not None
        run.broken += _rebuilt_differently(session, path)
    return path


async def _submit(session: Session, prompt: str, random: Random, run: ChaosRun) -> RunResult:
    """Run one prompt, at times with an interruption; it ends with exactly one result."""
    results: list[RunResult] = []
    async with asyncio.TaskGroup() as group:
        person = group.create_task(_person(session, random, run))
        async for event in session.submit(prompt):
            _take(event, results)
        person.cancel()
    if len(results) != 1:
        run.broken.append(f"{prompt!r} ended with {len(results)} results")
    return results[-1]


def _take(event: SessionEvent, results: list[RunResult]) -> None:
    if isinstance(event, RunResult):
        results.append(event)


async def _person(session: Session, random: Random, run: ChaosRun) -> None:
    """Call the turn off at some moment, or say something that the model is to read now or next."""
    if random.random() >= INTERRUPTIONS:
        return
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(random.uniform(0, 0.4))
        run.interrupted += 1
        if random.random() < 0.5:
            session.interrupt()
        else:
            session.enqueue("Mind the details.", priority=random.choice(["now", "next"]))


def _shortened(met: Sequence[str]) -> set[int]:
    """Return the numbers of the requests after which the conversation may have been shortened."""
    return {number for number, name in enumerate(met, 1) if name in (SUMMARY, TOO_LONG)}


def _rebuilt_differently(session: Session, path: Path) -> list[str]:
    """Say where a resume would not send what this session sent."""
    resumed, sent = read(path).messages, session.messages
    for number, (one, other) in enumerate(zip(resumed, sent, strict=False)):
        if one != other:
            return [f"a resume has another message {number}: {one!r:.300} and not {other!r:.300}"]
    return [] if len(resumed) == len(sent) else [f"a resume has {len(resumed)} messages and not {len(sent)}"]


def environment(project: Path, url: str) -> dict[str, str]:
    """Return the variables of a session in a project whose service is at `url`."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(project.parent / "home"),
        "TOOLPOST_CONFIG_DIR": str(project.parent / "state"),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "test",
        "TOOLPOST_STREAM_IDLE_TIMEOUT_MS": str(IDLE_MS),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
