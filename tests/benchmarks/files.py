"""Times the file and search tools beside ripgrep itself, in one run: `python -m tests.benchmarks.files`; see README.md."""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from toolpost import Files, Processes, Tool, ToolContext
from toolpost.testing import call_tool, make_context
from toolpost_service_files.local import LocalFiles
from toolpost_service_processes.local import LocalProcesses
from toolpost_tool_edit import Edit
from toolpost_tool_glob import Glob
from toolpost_tool_grep import Grep, search
from toolpost_tool_read import Read

A_FOLDER = 40
"""Files of a folder of the generated tree; a quarter of them are Python's."""
LINE = b"some line of a log file that is about as long as they are\n"


class Search(NamedTuple):
    """A call of a search tool, the `rg` command line that does the same, and what the call may take beside it."""

    name: str
    tool: Tool[Any]
    input: dict[str, Any]
    rg: Sequence[str]
    times: float
    more_ms: float = 0.0


SEARCHES = (
    Search("Glob **/*.py", Glob(), {"pattern": "**/*.py"}, ["--files"], 1.5),
    Search("Grep, nothing found", Grep(), {"pattern": "qqqqq"}, ["-l", "qqqqq"], 1.2, 30),
    Search("Grep, files", Grep(), {"pattern": "abc"}, ["-l", "abc"], 1.2, 30),
    Search("Grep, lines", Grep(), {"pattern": "abc", "output_mode": "content"}, ["-n", "abc"], 1.2, 30),
)


def main(argv: Sequence[str]) -> None:
    """Measure, and print one line a figure."""
    options = _parser().parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="toolpost-benchmark-") as made:
        folder = Path(made).resolve()
        for line in asyncio.run(_measure(folder, options.files, options.megabytes, options.runs)):
            print(line)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.files", description="Time the file and search tools beside ripgrep."
    )
    parser.add_argument("--files", type=int, default=200_000, help="files of the generated tree (200000)")
    parser.add_argument(
        "--megabytes", type=int, default=500, help="size of the file that is read (500), 5 x the edited"
    )
    parser.add_argument("--runs", type=int, default=5, help="runs of each after the one that warms up (5)")
    return parser


async def _measure(folder: Path, files: int, megabytes: int, runs: int) -> list[str]:
    services = {Files: LocalFiles(), Processes: LocalProcesses()}
    ctx = make_context(folder, services=services, env={"PATH": os.environ["PATH"]})
    # The peak of memory only ever grows: what holds little comes first.
    lines = [
        await _read_end(folder / "big.log", megabytes, ctx),
        await _edit_one_line(folder / "a.txt", megabytes, ctx),
    ]
    _lay(folder / "tree", files)
    tree = make_context(folder / "tree", services=services, env={"PATH": os.environ["PATH"]})
    return lines + [await _compare(one, tree, runs) for one in SEARCHES]


async def _read_end(path: Path, megabytes: int, ctx: ToolContext) -> str:
    count = megabytes * 1_000_000 // len(LINE)
    with path.open("wb") as file:
        for _ in range(0, count, 10_000):
            file.write(LINE * 10_000)
        count = file.tell() // len(LINE)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = await _timed(Read(), {"file_path": str(path), "offset": count - 2_000, "limit": 2_000}, ctx)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
    path.unlink()
    size = f"{count * len(LINE) / 1e6:.0f} MB"
    return f"Read, last 2000 lines of {size}: {seconds * 1000:.0f} ms (<= 1000), {grown:.0f} MB more (<= 50)"


async def _edit_one_line(path: Path, megabytes: int, ctx: ToolContext) -> str:
    path.write_bytes(LINE * (megabytes * 200_000 // len(LINE)) + b"the one\n")
    await call_tool(Read(), {"file_path": str(path), "offset": 1, "limit": 1}, ctx)
    given = {"file_path": str(path), "old_string": "the one", "new_string": "the other"}
    size = path.stat().st_size
    seconds = await _timed(Edit(), given, ctx)
    path.unlink()
    return f"Edit, a line of {size / 1e6:.0f} MB: {seconds * 1000:.0f} ms (<= 2000)"


def _lay(tree: Path, files: int) -> None:
    """Make a tree of small files of random words, the same each time."""
    words = random.Random(1)
    known = ["".join(words.choices("abcdefghijklmnop", k=words.randint(3, 9))) for _ in range(3_000)]
    for number in range(0, files, A_FOLDER):
        folder = tree / f"part{number // 2_000}" / f"mod{number}"
        folder.mkdir(parents=True)
        for index in range(min(A_FOLDER, files - number)):
            text = "\n".join(" ".join(words.choices(known, k=6)) for _ in range(8))
            (folder / f"f{index}{('.py', '.js', '.md', '.txt')[index % 4]}").write_text(text)


async def _compare(one: Search, ctx: ToolContext, runs: int) -> str:
    program = search.ripgrep(ctx.env)
    if program is None:
        return f"{one.name}: there is no ripgrep to compare with"
    ours, theirs = [], []
    for _ in range(runs + 1):
        theirs.append(_ripgrep([program, *one.rg, "."], ctx.cwd))
        ours.append(await _timed(one.tool, one.input, ctx))
    own, bare = 1000 * statistics.median(ours[1:]), 1000 * statistics.median(theirs[1:])
    most = one.times * bare + one.more_ms
    limit = f"{one.times:g} x rg" + (f" + {one.more_ms:g} ms" if one.more_ms else "")
    met = "yes" if own <= most else "no"
    return f"{one.name}: {own:.0f} ms, rg {bare:.0f} ms, {own / bare:.2f} x (<= {limit}: {met})"


def _ripgrep(argv: Sequence[str], folder: Path) -> float:
    started = time.perf_counter()
    subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    return time.perf_counter() - started


async def _timed(tool: Tool[Any], given: dict[str, Any], ctx: ToolContext) -> float:
    started = time.perf_counter()
    await call_tool(tool, given, ctx)
    return time.perf_counter() - started


if __name__ == "__main__":
    main(sys.argv[1:])
