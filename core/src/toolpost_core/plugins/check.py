"""Runs the contract kit on the plugin in a folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from toolpost import PluginError
from toolpost_core.plugins.checking import ALL, REPORT

NO_TESTS: Final = 5
"""The code with which pytest ends where it found nothing to run."""


class Rule(NamedTuple):
    """What became of one rule; `mend` is what the kit says to do, `why` what happened."""

    rule: str
    kit: str
    outcome: str
    why: str
    mend: str
    test: str


class Checked(NamedTuple):
    """The rules, and what pytest printed where it did not come to its end."""

    rules: tuple[Rule, ...]
    trouble: str


def check(folder: Path, *, all_tests: bool = False) -> Checked:
    """Run the kit's tests of a folder; it need not be installed. Raises PluginError where nothing can be run."""
    if find_spec("pytest") is None:
        raise PluginError(
            f"The contract kits need pytest, which {sys.executable} does not have. Install it: "
            'pip install "toolpost-hookspecs[testing]"'
        )
    if not folder.is_dir():
        raise PluginError(f"{folder} is not a folder. Give the folder of the plugin, with its pyproject.toml.")
    with tempfile.TemporaryDirectory(prefix="toolpost-check-") as scratch:
        report = Path(scratch) / "report.jsonl"
        done = subprocess.run(
            _command(folder, Path(scratch)),
            cwd=folder,
            env=_environment(folder, report, all_tests),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        lines = report.read_text(encoding="utf-8").splitlines() if report.exists() else []
    rules = tuple(_rule(json.loads(line)) for line in lines)
    if done.returncode == NO_TESTS or (not rules and done.returncode == 0):
        raise PluginError(
            f"{folder} has no test of a contract kit. Write one, such as tests/test_contract.py: a class that inherits "
            "from toolpost.testing.ToolContract and names the plugin (docs/plugins); or let "
            "`toolpost plugins new` write it."
        )
    return Checked(rules, "" if done.returncode in (0, 1) else (done.stdout + done.stderr).strip()[-3000:])


def _command(folder: Path, scratch: Path) -> list[str]:
    tests = folder / "tests"
    return [
        *(sys.executable, "-m", "pytest", "-q", "-p", "toolpost_core.plugins.checking", "-p", "no:cacheprovider"),
        *("--import-mode=importlib", f"--rootdir={folder}", f"--basetemp={scratch / 'pytest'}"),
        str(tests if tests.is_dir() else folder),
    ]


def _environment(folder: Path, report: Path, all_tests: bool) -> dict[str, str]:
    source = folder / "src"
    path = [str(source if source.is_dir() else folder), *_entries(os.environ.get("PYTHONPATH", ""))]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path), REPORT: str(report)}
    return {**env, ALL: "1"} if all_tests else env


def _entries(path: str) -> Sequence[str]:
    return [part for part in path.split(os.pathsep) if part]


def _rule(line: dict[str, Any]) -> Rule:
    fields = (line.get(name, "") for name in ("rule", "kit", "outcome", "why", "mend", "test"))
    return Rule(*map(str, fields))
