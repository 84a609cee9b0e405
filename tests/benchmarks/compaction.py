"""Times micro compaction of a long history: `python -m tests.benchmarks.compaction`; see README.md."""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Sequence
from typing import Final

from toolpost import Context, Message
from toolpost.testing import conversation
from toolpost_compaction_micro import Micro

LIMIT: Final = 20
CALLS: Final = 2
RESULTS: Final = {"long results": "word " * 8_000, "short results": "word " * 400}
"""What a call returned: a file of 40 kB, or some lines."""


def main(argv: Sequence[str]) -> None:
    """Measure, and print one line a history."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.compaction", description=__doc__)
    parser.add_argument("--tokens", type=int, default=150_000, help="tokens of each history (150000)")
    parser.add_argument("--runs", type=int, default=30, help="runs of each after the one that warms up (30)")
    given = parser.parse_args(argv)
    for name, result in RESULTS.items():
        print(_compacting(name, result, given.tokens, given.runs))


def _compacting(name: str, result: str, tokens: int, runs: int) -> str:
    messages = _history(result, tokens)
    # Over its threshold, so that any gain counts: the whole history is looked at, and most of it is changed.
    context = Context(messages=messages, used=tokens, trigger="auto")
    found: list[float] = []
    with asyncio.Runner() as runner:
        for _ in range(runs + 1):
            started = time.process_time()
            made = runner.run(Micro().compact(context))
            found.append(1000 * (time.process_time() - started))
    if made is None:
        raise ValueError(f"{name}: nothing was cleared")
    before = context.tokens(messages)
    return (
        f"{name}, {len(messages)} messages, {before:,} tokens to {made.tokens:,}: "
        f"{statistics.median(found[1:]):.2f} ms (<= {LIMIT})"
    )


def _history(result: str, tokens: int) -> list[Message]:
    turn = Context(messages=conversation(1, calls=CALLS, result=result))
    return conversation(max(tokens // turn.tokens(turn.messages), 4), calls=CALLS, result=result)


if __name__ == "__main__":
    main(sys.argv[1:])
