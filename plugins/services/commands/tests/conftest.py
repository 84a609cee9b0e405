from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from toolpost import Processes, Tasks
from toolpost.testing import PlainProcesses, PlainTasks, make_scope
from toolpost_service_commands.local import LocalCommands

# Test files are imported by path, so that modules which they share have to be findable.
sys.path.insert(0, str(Path(__file__).parent))

from commands_bench import Bench  # type: ignore[import-not-found]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    folder = tmp_path / "a project"
    folder.mkdir()
    tasks = PlainTasks()
    scope = make_scope(
        folder, services={Processes: PlainProcesses(), Tasks: tasks}, results_dir=tmp_path / "tool-results"
    )
    commands = LocalCommands(scope)
    yield Bench(folder, commands, tasks)
    await tasks.aclose()
    await commands.aclose()
