"""`python -m tests.security.fuzz`: the long form of the differential test."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.security.fuzz.campaign import FILES, PROGRAMS, campaign
from tests.security.fuzz.sandbox import why_not


async def main() -> int:
    """Print each finding as it comes and the counts from time to time; 1 where there was a finding."""
    parser = argparse.ArgumentParser(prog="python -m tests.security.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=5_000, help="how many commands to make (default 5000)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed makes the same commands (default 1)")
    parser.add_argument(
        "--about", choices=("programs", "files"), default="programs", help="what they try (default programs)"
    )
    given = parser.parse_args()
    if reason := why_not():
        sys.exit(f"The commands can't be run here: {reason}.")
    shown = 0
    with tempfile.TemporaryDirectory() as folder:
        subject = FILES if given.about == "files" else PROGRAMS
        async for report in campaign(Path(folder), count=given.count, seed=given.seed, subject=subject):
            for finding in report.findings[shown:]:
                print(finding, flush=True)
            shown = len(report.findings)
            if report.made % 5_000 == 0 or report.made >= given.count:
                print(report, flush=True)
    return 1 if shown else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
