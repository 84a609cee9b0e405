"""docs/guides/record-and-replay.md: its commands are run in their order, and print what the page shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mock_messages_api import MockMessagesApi, Step, tool_use, turn
from tests.docs.pages import ROOT, blocks

PAGE = ROOT / "docs/guides/record-and-replay.md"
ANSWER = "notes.txt has 2 words."


def steps() -> Iterator[tuple[str, str]]:
    """Yield each command of the page, with what it is said to print."""
    for block in blocks(PAGE):
        if block.language == "console":
            for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                yield command, shown


def pattern(shown: str) -> str:
    """Return a pattern for a text in which a line with … stands for any lines."""
    return re.escape(shown).replace(re.escape("…\n"), "(?:.*\n)*")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "notes.txt").write_text("one two\n")
    return folder


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    return {"PATH": path, "HOME": str(tmp_path / "home"), "ANTHROPIC_API_KEY": "test", "LC_ALL": "C.UTF-8"}


def test_the_commands_of_the_page_print_what_it_shows(project: Path, variables: dict[str, str]) -> None:
    once: list[Step] = [turn(tool_use("Bash", {"command": "wc -w notes.txt"}, id="toolu_mock_0000")), ANSWER]
    ran = []
    with MockMessagesApi([*once, *once]).run_in_thread() as api:
        for command, shown in steps():
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=project,
                env={**variables, "ANTHROPIC_BASE_URL": api.url},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=60,
            )
            assert re.fullmatch(pattern(shown), done.stdout), f"{command}\nprints\n{done.stdout}"
            ran.append(command.split()[:2])

    assert ran.count(["toolpost", "record"]) == 2
    assert ran.count(["toolpost", "replay"]) == 3


def test_the_test_on_the_page_passes_and_fails_with_the_difference(project: Path, variables: dict[str, str]) -> None:
    (test,) = (block.text for block in blocks(PAGE) if block.language == "python")
    (project / "test_words.py").write_text(test)
    pytest_there = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_words.py"]
    record = ["toolpost", "record", "words.jsonl", "How many words has notes.txt?"]
    with MockMessagesApi([ANSWER]).run_in_thread() as api:
        env = {**variables, "ANTHROPIC_BASE_URL": api.url}
        subprocess.run(record, cwd=project, env=env, stdin=subprocess.DEVNULL, check=True, timeout=60)
    passed = subprocess.run(pytest_there, cwd=project, env=variables, capture_output=True, text=True, timeout=60)
    kept = (project / "words.jsonl").read_text()
    (project / "words.jsonl").write_text(kept.replace("How many words has", "How many lines has", 1))
    failed = subprocess.run(pytest_there, cwd=project, env=variables, capture_output=True, text=True, timeout=60)

    assert passed.returncode == 0, passed.stdout
    assert failed.returncode == 1
