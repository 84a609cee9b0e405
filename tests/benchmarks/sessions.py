"""Times going on with long sessions and listing many: `python -m tests.benchmarks.sessions`; see README.md."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from toolpost import Message
from toolpost_core.transcripts.store import Store
from toolpost_core.transcripts.transcript import Transcript

PROGRAM = """
import resource, sys, time
from pathlib import Path
{imports}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.process_time()
count = {work}
print(time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, count)
"""
"""What is measured runs in a process of its own: a peak of memory is one of a process. Time is CPU time."""
RESUME = "from toolpost_core.transcripts.history import read", "len(read(Path(sys.argv[1])).messages)"
LIST = "from toolpost_core.transcripts.store import Store", "len(Store(Path(sys.argv[1])).all())"


class Figure(NamedTuple):
    """What one run took."""

    seconds: float
    kilobytes: int
    found: int


def main(argv: Sequence[str]) -> None:
    """Measure, and print one line a figure."""
    options = _parser().parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="toolpost-benchmark-") as made:
        for line in _measured(Path(made).resolve(), options):
            print(line, flush=True)


def _measured(folder: Path, options: argparse.Namespace) -> Iterator[str]:
    path = folder / "many.jsonl"
    lay(path, options.messages)
    size = path.stat().st_size / 1e6
    figure = _best(RESUME, path, options.runs)
    yield (
        f"Resume of {figure.found:,} messages ({size:.0f} MB): {figure.seconds:.2f} s (<= 0.50), {_more(figure)} more memory"
    )
    for what, compacted in (("compacted", True), ("never compacted", False)):
        path = folder / f"{compacted}.jsonl"
        lay(path, options.lines, bytes_each=options.megabytes * 1_000_000 // options.lines, compacted=compacted)
        size = path.stat().st_size / 1e6
        figure = _best(RESUME, path, options.runs)
        yield (
            f"Resume of {size:.0f} MB, {what}: {figure.seconds:.2f} s (<= 2.00), {_more(figure)} more memory (<= 200 MB), "
            f"{figure.found:,} messages"
        )
        path.unlink()
    lay_many(folder / "state", options.sessions)
    figure = _best(LIST, folder / "state", options.runs)
    yield f"List of {figure.found:,} sessions: {figure.seconds:.2f} s, {_more(figure)} more memory"


def lay(
    path: Path, messages: int, *, bytes_each: int = 600, compacted: bool = False, project: Path | None = None
) -> None:
    """Write a session of so many records: a prompt, then calls with their results; one compaction near the end."""
    file, folder = Transcript(path, path.stem, "0", print), project or path.parent
    for number in range(messages):
        message = _message(number, bytes_each)
        if compacted and number == messages * 98 // 100 // 2 * 2:
            summary: Message = {"role": "user", "content": [{"type": "text", "text": "What was said. " * 500}]}
            file.boundary([summary], folder)
        file.message(message["role"], {"id": f"m{number}", **message}, folder, **_extra(number, bytes_each))
    file.close()


def lay_many(state: Path, sessions: int) -> None:
    """Write so many sessions, ten to a project."""
    store = Store(state)
    for number in range(sessions):
        lay(store.path(Path(f"/p/project-{number // 10}"), f"session-{number}"), 40, bytes_each=4_000)


def _message(number: int, size: int) -> Message:
    """A call, or the result of the one before it; every hundredth result is followed by nothing but a prompt."""
    filler = f"{number} The quick brown fox jumps over the lazy dog.\n" * (size // 100)
    if number % 2:
        name = f"t{number}"
        call: Any = {"type": "tool_use", "id": name, "name": "Read", "input": {"file_path": f"/p/{number}.py"}}
        return {"role": "assistant", "content": [call]}
    if number % 100 == 0:
        return {"role": "user", "content": [{"type": "text", "text": f"Prompt {number}: {filler[:200]}"}]}
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{number - 1}", "content": filler}]}


def _extra(number: int, size: int) -> dict[str, Any]:
    return {"toolUseResult": {"content": "x" * size}} if number % 2 == 0 else {}


def _best(program: tuple[str, str], path: Path, runs: int) -> Figure:
    """Run a program so many times; return the least time with its memory."""
    imports, work = program
    found = []
    for _ in range(runs):
        argv = [sys.executable, "-c", PROGRAM.format(imports=imports, work=work), str(path)]
        out = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
        found.append(Figure(float(out[0]), int(out[1]), int(out[2])))
    return min(found)


def _more(figure: Figure) -> str:
    return f"{figure.kilobytes / 1000:.0f} MB"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.sessions", description="Time going on with long sessions, and listing many."
    )
    parser.add_argument("--messages", type=int, default=5_000, help="messages of the session without much else (5000)")
    parser.add_argument("--lines", type=int, default=50_000, help="records of the long sessions (50000)")
    parser.add_argument("--megabytes", type=int, default=200, help="about the size of the long sessions (200)")
    parser.add_argument("--sessions", type=int, default=1_000, help="sessions that are listed (1000)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each, of which the best counts (3)")
    return parser


if __name__ == "__main__":
    main(sys.argv[1:])
