"""Runs contract kits against copies of a plugin, each with one change."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mutations.subject import TOOLBOX, Edit, Subject
from toolpost_core.plugins.scaffold import KINDS, names_for, render, write

ROOT = Path(__file__).parents[3]


def failures(subject: Subject, place: Path) -> dict[str, set[str]]:
    """Break each rule in a copy of its own; return which tests of the kit fail there, and under "" those of a whole copy.

    All copies are tested by one run of pytest: starting one takes longer than most kits. The test is skipped where a
    whole copy can't be tested on this machine.
    """
    project = _project(subject, place)
    edits: Mapping[str, Edit | None] = {"": None, **subject.every_rule}
    for number, edit in enumerate(edits.values()):
        _copy(project, place, number, subject.edits(edit))
        with (place / f"tests_{number}/test_contract.py").open("a", encoding="utf-8") as file:
            file.write(f"\n\n{subject.tests}")
    rules = list(edits)
    found: dict[str, set[str]] = {rule: set() for rule in rules}
    for case in ElementTree.fromstring(_report(place, len(rules), subject.kit)).iter("testcase"):
        rule = rules[int(str(case.get("classname")).split(".")[0].removeprefix("tests_"))]
        if case.find("failure") is not None or case.find("error") is not None:
            found[rule].add(str(case.get("name")))
        elif not rule and (skipped := case.find("skipped")) is not None:
            pytest.skip(f"{case.get('name')} is skipped here: {skipped.get('message')}")
    return found


def _project(subject: Subject, place: Path) -> Path:
    if subject.project not in KINDS:
        return ROOT / subject.project
    folder = place / subject.project
    write(folder, render(subject.project, names_for(f"acme-{subject.project}", KINDS[subject.project].group)))
    return folder


def _copy(project: Path, place: Path, number: int, edits: Sequence[Edit]) -> None:
    """Copy a plugin under a name of its own, with its contract tests beside it."""
    (package,) = (entry for entry in (project / "src").iterdir() if entry.is_dir())
    copied = place / f"copy_{number}_of_{package.name}"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(package, copied, ignore=ignored)
    shutil.copytree(project / "tests", place / f"tests_{number}", ignore=ignored)
    for edit in edits:
        broken = copied / edit.file
        broken.write_text(edit.applied(broken.read_text(encoding="utf-8")) + TOOLBOX, encoding="utf-8")
    for file in [*copied.rglob("*.py"), *(place / f"tests_{number}").rglob("*.py")]:
        text = file.read_text(encoding="utf-8")
        file.write_text(re.sub(rf"\b{package.name}\b", copied.name, text), encoding="utf-8")


def _report(place: Path, copies: int, kit: str) -> str:
    (place / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (place / "home").mkdir()
    env = {
        **os.environ,
        "PYTHONPATH": str(place),
        "HOME": str(place / "home"),
        # The kits start interpreters that import the copies: without what was compiled each would compile them anew.
        "PYTHONDONTWRITEBYTECODE": "",
        # The kits need none, and loading them takes as long as one does.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-c", "pytest.ini", "-p", "no:cacheprovider"]
    command += ["--import-mode=importlib", "--junitxml=found.xml", f"--basetemp={place / 'base'}", "--tb=short"]
    done = subprocess.run(
        [*command, *(f"tests_{number}/test_contract.py::{kit}" for number in range(copies))],
        cwd=place,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout[-3000:] + done.stderr[-3000:]
    return (place / "found.xml").read_text(encoding="utf-8")
