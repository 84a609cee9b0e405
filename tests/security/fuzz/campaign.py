"""Makes commands, decides on each, runs those that would be allowed, and says which did what nothing granted."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random

from tests.security.fuzz.deciding import FILE_RULE_SETS, RULE_SETS, Decider, RuleSet, fault
from tests.security.fuzz.files import FileLines
from tests.security.fuzz.grammar import Grammar
from tests.security.fuzz.mutation import Mutation
from tests.security.fuzz.sandbox import Sandbox, sandbox
from tests.security.fuzz.world import World, cases, make_file_world, make_world

_CASES = Path(__file__).parents[1] / "permission_cases.jsonl"
_BATCH = 250


@dataclass(frozen=True)
class Finding:
    """A command that was allowed and did what the rules do not grant."""

    command: str
    under: str
    what: str

    def __str__(self) -> str:
        return f"{self.command!r} was allowed ({self.under}) and {self.what}"


@dataclass
class Report:
    """What a campaign came to: how many commands were made, allowed under each set of rules, run, and lost."""

    made: int = 0
    run: int = 0
    lost: int = 0
    allowed: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def __str__(self) -> str:
        by_set = ", ".join(f"{name} {count}" for name, count in self.allowed.most_common())
        return f"{self.made} made, {self.run} run, {self.lost} lost, {len(self.findings)} findings; allowed: {by_set}"


@dataclass(frozen=True)
class Subject:
    """What a campaign is about: a world, lines without end for a seed and that world, and sets of rules."""

    world: Callable[[Path], World]
    lines: Callable[[int, World], Iterator[str]]
    rule_sets: Sequence[RuleSet]


def commands(seed: int, _world: World) -> Iterator[str]:
    """Commands without end: from the grammar in two ways, and by mutation of the cases and of what the grammar made."""
    random = Random(seed)
    grammar = Grammar(random)
    mutation = Mutation(random, cases(_CASES))
    while True:
        yield grammar.line()
        yield mutation.line()
        yield mutation.line(grammar.line())
        yield grammar.steps()


def file_lines(seed: int, world: World) -> Iterator[str]:
    """Lines without end of which each opens a file that a rule forbids."""
    made = FileLines(Random(seed), world)
    while True:
        yield made.line()


PROGRAMS = Subject(make_world, commands, RULE_SETS)
FILES = Subject(make_file_world, file_lines, FILE_RULE_SETS)


async def campaign(folder: Path, *, count: int, seed: int, subject: Subject = PROGRAMS) -> AsyncIterator[Report]:
    """Go through `count` commands; the report so far is given after every batch."""
    world = subject.world(folder)
    decider = Decider(world, subject.rule_sets)
    report = Report()
    made = subject.lines(seed, world)
    with sandbox(world) as runner:
        while report.made < count:
            batch = list(islice(made, min(_BATCH, count - report.made)))
            report.made += len(batch)
            allowed = [(command, sets) for command in batch if (sets := await _allowed(decider, command))]
            _run(allowed, runner, world, report)
            yield report


async def _allowed(decider: Decider, command: str) -> list[RuleSet]:
    # The tool refuses what no command line can carry.
    return await decider.allowed(command) if "\0" not in command else []


def _run(allowed: Sequence[tuple[str, Sequence[RuleSet]]], runner: Sandbox, world: World, report: Report) -> None:
    outcomes = runner.run([command for command, _ in allowed])
    report.run += len(allowed)
    for (command, sets), outcome in zip(allowed, outcomes, strict=True):
        report.lost += outcome.lost
        for rule_set in sets:
            report.allowed[rule_set.name] += 1
            if what := fault(rule_set, outcome, world):
                report.findings.append(Finding(command, rule_set.name, what))
