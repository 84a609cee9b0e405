"""What is measured, and the target of each figure (the "Numbers" of the issue that built the first loop)."""

from __future__ import annotations

import itertools
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from tests.benchmarks.clients import ANTHROPIC, HTTPX2, TOOLPOST, Client, Place, make_place, toolpost
from tests.benchmarks.plugins import discovery, listeners
from tests.benchmarks.processes import Run, RunFailedError, converse, run

KB = 1000
_EDGE = 50
# ValueError: what a tool printed is no time.
_FAILURES = (RunFailedError, OSError, ValueError)


@dataclass(frozen=True)
class Target:
    """What toolpost's median may be at most: so much, or so many times that of the bare httpx2 loop."""

    most: float
    times: bool = False


@dataclass
class Row:
    """A figure: its samples by client, in the order they were taken."""

    measure: str
    figure: str
    unit: str
    target: Target | None = None
    samples: dict[str, list[float]] = field(default_factory=dict)

    def medians(self) -> Mapping[str, float]:
        """Return the median of each client that has samples."""
        return {name: statistics.median(samples) for name, samples in self.samples.items() if samples}


@dataclass
class Report:
    """All figures, and why a client has none: `(measure, client, reason)`."""

    rows: list[Row] = field(default_factory=list)
    failures: list[tuple[str, str, str]] = field(default_factory=list)


Reader: TypeAlias = Callable[[Place, Run], float]


@dataclass(frozen=True)
class Figure:
    """One number that is read from a run."""

    name: str
    unit: str
    read: Reader
    target: Target | None = None


@dataclass(frozen=True)
class Conversation:
    """A scenario that every client plays, and what is read from it; `cold` gives each run new folders."""

    scenario: Sequence[str]
    turns: int
    figures: Sequence[Figure]
    cold: bool = False


def _first_request(_: Place, done: Run) -> float:
    return 1000 * (float(done.requests[0]["first_byte"]) - done.started)


def _first_bytes(_: Place, done: Run) -> float:
    return float(done.requests[0]["bytes"])


def _exit(_: Place, done: Run) -> float:
    return 1000 * (done.exited - float(done.requests[-1]["sent"]))


def _wall(_: Place, done: Run) -> float:
    return 1000 * done.wall


def _peak(_: Place, done: Run) -> float:
    return done.peak_mb


def _tool_start(place: Place, done: Run) -> float:
    printed = place.project / "started"
    started = float(printed.read_text(encoding="utf-8"))
    printed.unlink()
    return 1000 * (started - float(done.requests[0]["block_ended"]))


def _per_turn(_: Place, done: Run) -> float:
    first, last = done.requests[0], done.requests[-1]
    return 1000 * (float(last["first_byte"]) - float(first["first_byte"])) / (len(done.requests) - 1)


def _gaps(done: Run) -> list[float]:
    """From the last byte of each answer to the whole of the next request."""
    return [1000 * (float(b["arrived"]) - float(a["sent"])) for a, b in itertools.pairwise(done.requests)]


def _first_gaps(_: Place, done: Run) -> float:
    return statistics.median(_gaps(done)[:_EDGE])


def _last_gaps(_: Place, done: Run) -> float:
    return statistics.median(_gaps(done)[-_EDGE:])


_TO_FIRST = Figure("exec to first request", "ms", _first_request, Target(2.0, times=True))
_TURN = Figure("one turn", "ms", _per_turn, Target(2.0, times=True))
_FIRST_GAPS = Figure("first 50 turns", "ms", _first_gaps)
_LAST_GAPS = Figure("last 50 turns", "ms", _last_gaps)

CONVERSATIONS: Mapping[str, Conversation] = {
    "startup": Conversation(
        ["hello"],
        1,
        [
            _TO_FIRST,
            Figure("first request", "bytes", _first_bytes, Target(16 * KB)),
            Figure("last byte to exit", "ms", _exit, Target(80)),
            Figure("whole run", "ms", _wall),
        ],
    ),
    "cold-startup": Conversation(
        ["hello"],
        1,
        [Figure("exec to first request", "ms", _first_request), Figure("whole run", "ms", _wall)],
        cold=True,
    ),
    "tool-start": Conversation(["open", "3"], 2, [Figure("block's end to start", "ms", _tool_start, Target(30))]),
    "turns-100": Conversation(["turns", "100"], 101, [_TURN, _FIRST_GAPS, _LAST_GAPS]),
    "turns-500": Conversation(
        ["turns", "500"], 501, [_TURN, _FIRST_GAPS, _LAST_GAPS, Figure("peak memory", "MB", _peak, Target(100))]
    ),
}
MEASURES = ("import", "version", "listeners", "discovery", *CONVERSATIONS)


def measure(names: Sequence[str], compared: Sequence[Client], runs: int, root: Path) -> Iterator[Report]:
    """Take the measures one after the other, and yield the report of each."""
    places = {client.name: make_place(root / f"{number}") for number, client in enumerate(compared)}
    for name in names:
        match name:
            case "import":
                yield _imports(runs, places[TOOLPOST])
            case "version":
                yield _version(runs, places[TOOLPOST])
            case "listeners":
                yield _listeners(runs)
            case "discovery":
                yield _discovery(runs, root)
            case _:
                yield _converse(name, compared, runs, places)


def _imports(runs: int, place: Place) -> Report:
    """CPU of an import, over that of the empty interpreter of the same round."""
    row = Row("import", "CPU over `pass`", "ms", Target(60))
    report = Report([row])
    well = [TOOLPOST, HTTPX2, ANTHROPIC]
    for number in range(runs + 1):
        empty = run([sys.executable, "-c", "pass"], place.env, place.project).cpu
        for module in list(well):
            try:
                cpu = run([sys.executable, "-c", f"import {module}"], place.env, place.project).cpu
            except _FAILURES as error:
                report.failures.append(("import", module, str(error)))
                well.remove(module)
                continue
            if number:
                row.samples.setdefault(module, []).append(1000 * (cpu - empty))
    return report


def _version(runs: int, place: Place) -> Report:
    row = Row("version", "`toolpost --version`", "ms", Target(120))
    empty = Row("version", "`python -c pass`", "ms")
    for number in range(runs + 1):
        for timed, argv in ((row, [toolpost(), "--version"]), (empty, [sys.executable, "-c", "pass"])):
            try:
                wall = run(argv, place.env, place.project).wall
            except _FAILURES as error:
                return Report([row, empty], [("version", TOOLPOST, str(error))])
            if number:
                timed.samples.setdefault(TOOLPOST, []).append(1000 * wall)
    return Report([row, empty])


def _listeners(runs: int) -> Report:
    """What the dispatcher adds to 50 listeners of one PreToolUse, and how many times their own awaits it takes."""
    rows: dict[str, Row] = {}
    for _ in range(runs):
        for sort, (through, bare) in listeners().items():
            added = rows.setdefault(sort, Row("listeners", f"50 {sort}: added to a call", "ms", Target(1)))
            added.samples.setdefault(TOOLPOST, []).append(through - bare)
            ratio = rows.setdefault(f"{sort} x", Row("listeners", f"50 {sort}: times bare calls", "x"))
            ratio.samples.setdefault(TOOLPOST, []).append(through / bare)
    return Report(list(rows.values()))


def _discovery(runs: int, root: Path) -> Report:
    row = Row("discovery", "300 distributions, 60 ours: added, warm", "ms", Target(60))
    whole = Row("discovery", "scan and registry with them, warm", "ms")
    for number in range(runs):
        more, less = discovery(root / f"discovery-{number}")
        row.samples.setdefault(TOOLPOST, []).append(more - less)
        whole.samples.setdefault(TOOLPOST, []).append(more)
    return Report([row, whole])


def _converse(name: str, compared: Sequence[Client], runs: int, places: Mapping[str, Place]) -> Report:
    """Let the clients take turns; one that fails is left out from then on. The first round warms up and is not kept."""
    conversation = CONVERSATIONS[name]
    report = Report([Row(name, figure.name, figure.unit, figure.target) for figure in conversation.figures])
    well = list(compared)
    for number in range(runs + 1):
        for client in list(well):
            try:
                values = _play(conversation, client, places[client.name], warms_up=number == 0)
            except _FAILURES as error:
                report.failures.append((name, client.name, str(error)))
                well.remove(client)
                continue
            if number:
                for row, value in zip(report.rows, values, strict=True):
                    row.samples.setdefault(client.name, []).append(value)
    if name == "turns-500":
        report.rows.insert(3, growth(report.rows[1], report.rows[2]))
    return report


def _play(conversation: Conversation, client: Client, place: Place, warms_up: bool) -> list[float]:
    if warms_up and conversation.turns > 2:
        # What a long conversation warms up is what a short one does.
        converse(client.argv, place.env, place.project, ["hello"], 1)
        return []
    if not conversation.cold:
        return _read(conversation, client, place)
    with tempfile.TemporaryDirectory(dir=place.root) as folder:
        return _read(conversation, client, make_place(Path(folder) / "cold"))


def _read(conversation: Conversation, client: Client, place: Place) -> list[float]:
    done = converse(client.argv, place.env, place.project, conversation.scenario, conversation.turns)
    return [figure.read(place, done) for figure in conversation.figures]


def growth(first: Row, last: Row) -> Row:
    """Return how many times the first turns the last take, less what the bare httpx2 loop's own turns grow by."""
    row = Row(last.measure, "last 50 / first 50", "x", Target(1.3))
    bare = [b - a for a, b in zip(first.samples.get(HTTPX2, []), last.samples.get(HTTPX2, []), strict=True)]
    if not bare:
        return row
    grown = statistics.median(bare)
    for name, firsts in first.samples.items():
        row.samples[name] = [(b - grown) / a for a, b in zip(firsts, last.samples[name], strict=True)]
    return row
