"""A plugin's package may bring hooks in a file, as one of the kind lifecycle; its programs know where it lies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_site import Site
from forked import run_program
from mock_messages_api import MockMessagesApi, tool_use, turn

TOOLPOST = str(Path(sys.executable).with_name("toolpost"))
PLUGIN = """
    from toolpost import Plugin

    class Guard(Plugin):
        motto: str = "none"

    plugin = Guard()
"""
CALL = {"command": "echo hi"}


class Installed:
    """A project beside an installed plugin `guard` whose package has the file hooks/hooks.json."""

    def __init__(self, folder: Path) -> None:
        self.project, self.state = folder / "project", folder / "state"
        for made in (self.project, self.state, folder / "site"):
            made.mkdir()
        site = Site(folder / "site")
        site.install("acme-guard", entries={"lifecycle": {"guard": "acme_guard:Guard"}})
        self.root = site.package("acme_guard", PLUGIN, "[capabilities]\n")
        self.settings: dict[str, Any] = {"plugins": {"guard": {"enabled": True, "config": {"motto": "look twice"}}}}
        self._env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TOOLPOST_CONFIG_DIR": str(self.state),
            "PYTHONPATH": str(site.folder),
            "ANTHROPIC_API_KEY": "test",
        }

    def brings(self, content: Any) -> None:
        (self.root / "hooks").mkdir()
        (self.root / "hooks" / "hooks.json").write_text(json.dumps(content))

    def before_bash(self, **entry: Any) -> None:
        hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", **entry}]}]}
        self.brings({"description": "Looks at commands.", "hooks": hooks})

    def run(self) -> tuple[subprocess.CompletedProcess[str], str]:
        """Run a prompt with one Bash call; return how it ended and what the model read of the call."""
        (self.state / "settings.json").write_text(json.dumps(self.settings))
        with MockMessagesApi([turn(tool_use("Bash", CALL)), "Done."]).run_in_thread() as api:
            done = run_program(["-p", "go"], cwd=self.project, env={**self._env, "ANTHROPIC_BASE_URL": api.url})
            return done, str(api.requests[-1].tool_results)

    def listed(self) -> list[dict[str, Any]]:
        """Return the hooks that `toolpost hooks list` shows."""
        (self.state / "settings.json").write_text(json.dumps(self.settings))
        argv = [TOOLPOST, "hooks", "list", "--json"]
        done = subprocess.run(
            argv, cwd=self.project, env=self._env, capture_output=True, text=True, timeout=60, check=True
        )
        rows: list[dict[str, Any]] = json.loads(done.stdout)["configured"]
        return rows


@pytest.fixture
def installed(tmp_path: Path) -> Installed:
    return Installed(tmp_path.resolve())


def test_its_program_is_found_beside_it_and_refuses_the_call(installed: Installed) -> None:
    installed.before_bash(command='"${CLAUDE_PLUGIN_ROOT}"/look.sh')
    script = installed.root / "look.sh"
    script.write_text('#!/bin/sh\necho "no: $CLAUDE_PLUGIN_OPTION_MOTTO" >&2\nexit 2\n')
    script.chmod(0o755)
    done, read = installed.run()
    assert "no: look twice" in read
    assert done.stdout == "Done.\n"


def test_without_a_shell_places_and_settings_are_put_in(installed: Installed) -> None:
    program = "import sys; print(sys.argv[1:], file=sys.stderr); sys.exit(2)"
    arguments = ["-c", program, "${TOOLPOST_PLUGIN_ROOT}/x", "${CLAUDE_PLUGIN_DATA}", "${user_config.motto}", "${no}"]
    installed.before_bash(command=sys.executable, args=arguments)
    _, read = installed.run()
    data = installed.state / "plugins" / "data" / "acme-guard"
    assert f"{installed.root}/x" in read
    assert str(data) in read
    assert "look twice" in read
    assert "${no}" in read
    assert data.is_dir()


def test_of_a_plugin_that_is_off_none_run(installed: Installed) -> None:
    installed.before_bash(command="echo no >&2; exit 2")
    installed.settings["plugins"]["guard"]["enabled"] = False
    _, read = installed.run()
    assert "hi" in read


@pytest.mark.parametrize("content", [[], {"PreToolUse": []}, {"hooks": {"PreToolUse": {}}}, {"hooks": {"Stop": [3]}}])
def test_a_file_that_holds_none_is_named(content: Any, installed: Installed) -> None:
    installed.brings(content)
    done, _ = installed.run()
    assert "The hooks of the plugin 'guard' (acme-guard) do not run" in done.stderr
    assert done.stdout == "Done.\n"


def test_settings_that_switch_hooks_off_switch_these_off(installed: Installed) -> None:
    installed.before_bash(command="echo no >&2; exit 2")
    installed.settings["disableAllHooks"] = True
    _, read = installed.run()
    assert "hi" in read


def test_the_list_of_hooks_has_them(installed: Installed) -> None:
    installed.before_bash(command="true")
    (row,) = installed.listed()
    assert (row["event"], row["matcher"], row["what"]) == ("PreToolUse", "Bash", "command: true")
    assert row["from"] == str(installed.root)
