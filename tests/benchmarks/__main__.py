"""Times toolpost beside a bare httpx2 loop and a bare anthropic-SDK loop, in one run: see README.md here."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.clients import clients
from tests.benchmarks.measures import MEASURES, Report, measure
from tests.benchmarks.table import as_json, table


def main(argv: Sequence[str]) -> None:
    """Measure, and print; what a client does wrong is a line of the output."""
    # argparse takes what follows `--` for positional arguments, of which there are none.
    cut = argv.index("--") if "--" in argv else len(argv)
    options = _parser().parse_args(argv[:cut])
    compared = clients(argv[cut + 1 :], options.command)
    whole = Report()
    with tempfile.TemporaryDirectory(prefix="toolpost-benchmark-") as root:
        for report in measure(options.only or MEASURES, compared, options.runs, Path(root)):
            print(f"{report.rows[0].measure}: done", file=sys.stderr)
            whole.rows += report.rows
            whole.failures += report.failures
    names = [client.name for client in compared]
    print(as_json(whole) if options.json else table(whole, names))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description="Time toolpost beside a bare httpx2 loop and a bare anthropic-SDK loop, in the same run.",
        epilog="What follows -- replaces toolpost's flags.",
    )
    parser.add_argument("--only", action="append", choices=MEASURES, help="take this measure only; may be repeated")
    parser.add_argument("--runs", type=_count, default=5, help="runs of each client after the one that warms up (5)")
    parser.add_argument("--json", action="store_true", help="print every sample as JSON")
    parser.add_argument("--command", metavar="ARGV", help="one more client to time, with its arguments")
    return parser


def _count(value: str) -> int:
    number = int(value)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{value!r} is no number of runs: give 1 or more")
    return number


if __name__ == "__main__":
    main(sys.argv[1:])
