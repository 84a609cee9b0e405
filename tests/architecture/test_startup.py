"""What a start imports is a contract: a new module here is a difference to argue for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mock_messages_api import MockMessagesApi
from tests.architecture.folders import PLUGINS, Plugin
from tests.architecture.heavy import HEAVY, loaded_by

UNUSED = {
    "anthropic",
    "click",
    "prompt_toolkit",
    "rich",
    "stevedore",
    "toolpost_frontend_demo",
    "toolpost_frontend_terminal",
    "toolpost_hook_runner_command",
    "toolpost_provider_replay",
    "toolpost_service_file_history",
    "toolpost_service_recorder",
}
"""What `toolpost -p hi` must not import."""

VERSION = "import sys; sys.argv = ['toolpost', '--version']\nfrom toolpost_core.cli import main\nassert main() == 0"


@pytest.mark.requirement("startup.plugins_are_light")
@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.path)
def test_importing_a_plugin_loads_no_heavy_library(plugin: Plugin) -> None:
    objects = [target.partition(":")[2] for target in plugin.project["project"]["entry-points"][plugin.group].values()]
    script = f"import {plugin.package} as found\n" + "\n".join(f"found.{name}" for name in objects if name)
    assert sorted(loaded_by(script) & set(HEAVY)) == []


@pytest.mark.requirement("startup.version_is_light")
def test_asking_for_the_version_loads_the_command_line_and_nothing_else_of_ours() -> None:
    ours = {name for name in loaded_by(VERSION) - loaded_by("") if name.split(".")[0].startswith("toolpost")}
    assert ours <= {"toolpost_core", "toolpost_core.cli", "toolpost_core.version"}


@pytest.mark.requirement("startup.version_is_light")
def test_asking_for_the_version_loads_no_heavy_library() -> None:
    assert sorted(loaded_by(VERSION) & {*HEAVY, "asyncio", "pluggy", "dataclasses"}) == []


@pytest.mark.requirement("startup.unused_plugins_stay_unloaded")
def test_a_printed_answer_loads_no_plugin_and_no_library_that_it_does_not_use(tmp_path: Path) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "toolpost_core", "-p", "hi"]
    with MockMessagesApi(["Hello.", "Hello."]).run_in_thread() as api:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "ANTHROPIC_API_KEY": "k",
            "ANTHROPIC_BASE_URL": api.url,
        }
        # Compiled files that the first run leaves beside a library would make the scan be done again.
        env["PYTHONDONTWRITEBYTECODE"] = "1"
        for _ in ("a run that scans what is installed", "one that finds the scan"):
            done = subprocess.run(
                command, cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
            )
    assert (done.returncode, done.stdout) == (0, "Hello.\n"), done.stderr[-2000:]
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    loaded = {line.rpartition("|")[2].strip() for line in lines}
    assert sorted(loaded & UNUSED) == []
