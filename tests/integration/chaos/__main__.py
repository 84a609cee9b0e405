"""`python -m tests.integration.chaos`: the long form of the chaos and kill runs."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "support"))

from tests.integration.chaos.campaign import Play, campaign
from tests.integration.chaos.in_process import ChaosRun, chaos_run
from tests.integration.chaos.killed import KilledRun, killed_run


async def main() -> int:
    """Print each run that broke an invariant, and how many there were; 1 where one did."""
    parser = argparse.ArgumentParser(prog="python -m tests.integration.chaos", description=__doc__)
    parser.add_argument("--count", type=int, default=60, help="how many runs (default 60)")
    parser.add_argument("--seed", type=int, default=1, help="the first seed; each run has its own (default 1)")
    parser.add_argument("--kill", action="store_true", help="kill the program instead of disturbing it")
    given = parser.parse_args()
    play: Play[ChaosRun | KilledRun] = killed_run if given.kill else chaos_run
    seeds = range(given.seed, given.seed + given.count)
    made = broken = faults = 0
    with tempfile.TemporaryDirectory() as folder:
        async for run in campaign(Path(folder).resolve(), seeds, play):
            made, broken, faults = made + 1, broken + bool(run.broken), faults + run.faults
            if run.broken:
                print(run, flush=True)
            if made % 20 == 0 or made == given.count:
                print(f"{made} runs, {faults} faults, {broken} broken", flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
