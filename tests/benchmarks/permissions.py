"""Times what a shell command waits for before it may run: `python -m tests.benchmarks.permissions`; see README.md."""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from toolpost import PermissionRequest, PermissionScope, Rule
from toolpost_permission_resolver_rules import Rules
from toolpost_tool_bash.matcher import understand

LENGTH: Final = 1000
FEW: Final = 10
LINES: Final = {
    "a list": "git status && ls -la src && cat README.md && ",
    "pipes and quotes": "grep -rn 'foo bar' src --include='*.py' | sort -u | head -20 && ",
    "loops and variables": 'for f in a.txt b.txt; do wc -l "$f"; done; x=1; echo "${x}"; ',
    "substitutions": 'echo "on $(git branch --show-current)" `date`; ',
    "a here-document": "some text of $HOME that goes on for a while\n",
    "programs in one another": "sudo timeout 5 nice env A=1 ",
}
"""Pieces that are repeated up to `LENGTH`, some of them less where a line may not start that many programs."""
COMMANDS: Final = ("git status", "npm test", "cat a.txt b.txt | sort | uniq -c", "cp a.txt b.txt && rm c.txt")


def main(argv: Sequence[str]) -> None:
    """Measure, and print one line a figure."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.permissions", description=__doc__)
    parser.add_argument("--rules", type=int, default=10_000, help="rules of the bigger set (10000)")
    parser.add_argument("--runs", type=int, default=30, help="runs of each after the one that warms up (30)")
    given = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="toolpost-benchmark-") as folder:
        scope = _scope(Path(folder).resolve())
        print(_scale(given.runs))
        for name, piece in LINES.items():
            print(_reading(name, _line(name, piece), scope, given.runs))
        for command in COMMANDS:
            print(_deciding(command, scope, given.rules, given.runs))


def _scale(runs: int) -> str:
    text = Path(__file__).read_text("utf-8")

    def compiled() -> None:
        compile(text, __file__, "exec")

    return f"for scale, compiling this benchmark's {len(text)} characters: {_milliseconds(compiled, runs):.2f} ms"


def _scope(folder: Path) -> PermissionScope:
    for name in "abc":
        (folder / f"{name}.txt").touch()
    return PermissionScope(cwd=folder, home=folder / "home", project=folder, directories=(folder,), interactive=True)


def _line(name: str, piece: str) -> str:
    if name == "a here-document":
        return f"cat <<EOF\n{piece * (LENGTH // len(piece))}EOF"
    if name == "programs in one another":
        return piece * 6 + "git status #" + "-" * (LENGTH - 12 - len(piece * 6))
    text = (piece * 15)[:LENGTH]
    return text[: text.rindex(piece) + len(piece)].rstrip("& ;") + " #" + "-" * (LENGTH - len(text))


def _reading(name: str, line: str, scope: PermissionScope, runs: int) -> str:
    def read() -> None:
        matcher = understand(line, cwd=scope.cwd, home=scope.home)
        if matcher.doubt:
            raise ValueError(f"{name}: {matcher.doubt}")

    parts = len(understand(line, cwd=scope.cwd, home=scope.home).parts)
    return f"{name}, {len(line)} characters, {parts} parts: {_milliseconds(read, runs):.2f} ms (<= 3)"


def _deciding(command: str, scope: PermissionScope, many: int, runs: int) -> str:
    matcher = understand(command, cwd=scope.cwd, home=scope.home)
    times: list[float] = []
    with asyncio.Runner() as runner:
        for count in (FEW, many):
            request = PermissionRequest(
                tool_name="Bash", tool_input={"command": command}, scope=scope, rules=_rules(count), matcher=matcher
            )

            def decide(request: PermissionRequest = request) -> None:
                runner.run(Rules().resolve(request))

            times.append(_milliseconds(decide, runs))
    ratio = times[1] / times[0]
    return f"{command}, {many} rules: {times[1]:.2f} ms (<= 5), {ratio:.1f} x as with {FEW}"


def _rules(count: int) -> tuple[Rule, ...]:
    """Rules of all kinds, none of which is about the commands."""
    shapes: tuple[tuple[str, str], ...] = (
        ("Bash(tool{} run:*)", "allow"),
        ("Bash(tool{} push *)", "deny"),
        ("Read(folder{}/**)", "deny"),
        ("Edit(~/out{}/*.txt)", "allow"),
        ("WebFetch(domain:host{}.example)", "allow"),
    )
    made = (shapes[number % len(shapes)] for number in range(count))
    return tuple(Rule.parse(text.format(number), behavior) for number, (text, behavior) in enumerate(made))  # type: ignore[arg-type]


def _milliseconds(work: Callable[[], None], runs: int) -> float:
    """The median of this process' time; that of the first run, which fills caches, does not count."""
    found: list[float] = []
    for _ in range(runs + 1):
        started = time.process_time()
        work()
        found.append(1000 * (time.process_time() - started))
    return statistics.median(found[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
