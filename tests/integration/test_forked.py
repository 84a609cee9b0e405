"""A program that is forked does what one does that is started: so most tests may fork it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from forked import run_program

TOOLPOST = str(Path(sys.executable).with_name("toolpost"))


@pytest.fixture
def env(tmp_path: Path) -> Mapping[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TOOLPOST_CONFIG_DIR": str(tmp_path / "state")}


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (["plugins", "list", "--json"], None),
        (["settings", "show"], ""),
        (["tool", "run", "--json"], '{"tool": "Glob", "input": {}}\n'),
        (["plugins", "nonsense"], None),
        (["-p", "hi"], "piped"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_it_says_and_ends_as_one_that_is_started(
    arguments: Sequence[str], given: str | None, env: Mapping[str, str], tmp_path: Path
) -> None:
    stdin = {"stdin": subprocess.DEVNULL} if given is None else {"input": given}
    started = subprocess.run(
        [TOOLPOST, *arguments], cwd=tmp_path, env=env, capture_output=True, text=True, check=False, **stdin
    )
    forked = run_program(arguments, cwd=tmp_path, env=env, input=given)
    assert (forked.returncode, steady(forked.stdout), forked.stderr) == (
        started.returncode,
        steady(started.stdout),
        started.stderr,
    )


def steady(printed: str) -> str:
    """Without how long a call took."""
    lines = [json.loads(line) if line.startswith("{") else line for line in printed.splitlines()]
    return repr([{**line, "duration_ms": 0} if isinstance(line, dict) else line for line in lines])


def test_one_that_takes_too_long_is_killed(env: Mapping[str, str], tmp_path: Path) -> None:
    call = json.dumps({"tool": "Bash", "input": {"command": "sleep 60"}})
    arguments = ["tool", "run", "--json", "--trust", "--permission-mode", "bypassPermissions"]
    with pytest.raises(subprocess.TimeoutExpired):
        run_program(arguments, cwd=tmp_path, env=env, input=f"{call}\n", timeout=1.5)
