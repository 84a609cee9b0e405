"""How the demonstration ends: the tests, run once more, and what changed."""

from __future__ import annotations

import sys
from pathlib import Path

from .project import Outcome

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def show(tests: Outcome, diff: str, folder: Path, *, kept: bool) -> None:
    """Print the end of the demonstration."""
    from rich.console import Console
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False, markup=False)
    console.print()
    console.print(Text("What changed (git diff)", "bold"))
    for line in diff.rstrip().splitlines() or ["nothing"]:
        console.print(Text("  " + line, _STYLES.get(line[:1], "dim")), soft_wrap=True)
    console.print()
    said = tests.text.strip().splitlines()
    console.print(Text("The tests, run once more by the demo itself", "bold"))
    console.print(Text(f"  {next((line for line in said if line.startswith('Ran ')), 'did not run')}", "dim"))
    verdict = ("  ✔ green", "bold green") if tests.ok else (f"  ✗ red: {said[-1] if said else 'no output'}", "bold red")
    console.print(Text(*verdict))
    console.print()
    leave(folder, kept=kept)


def leave(folder: Path, *, kept: bool) -> None:
    """Say what becomes of the project."""
    from rich.console import Console
    from rich.text import Text

    where = f"The project stays in {folder}" if kept else f"{folder} is removed; --keep DIR keeps the project"
    Console(file=sys.stdout, highlight=False, markup=False).print(Text(where, "dim"), soft_wrap=True)


def complain(text: str) -> None:
    """Tell the person what can't be done."""
    print(f"toolpost demo: {text}", file=sys.stderr, flush=True)


def introduce(folder: Path, *, fast: bool) -> None:
    """Say what is going to be seen."""
    from shutil import get_terminal_size
    from textwrap import fill

    text = (
        "A recorded model now mends a failing test. It is the only part that is recorded: the loop, the tools, the "
        f"permission questions and the results are real.{'' if fast else ' --fast skips the pauses.'}"
    )
    print(fill(text, min(get_terminal_size().columns, 100)), f"Project: {folder}", "", sep="\n", flush=True)
