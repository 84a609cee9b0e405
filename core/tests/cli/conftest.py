from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from forked import run_program

NEEDED = ("click", "filelock", "jsonschema", "packaging", "pluggy", "stevedore", "toolpost", "toolpost_core")


class CommandLine:
    """Runs the real command line as a process, in a project and with a config folder of its own.

    That is a fork of one that has imported the core; where it is `cold`, an interpreter is started.
    """

    def __init__(self, base: Path) -> None:
        self.project, self.config, self.site = base / "project", base / "config", base / "site"
        for folder in (self.project, self.config, self.site):
            folder.mkdir()
        self.flags: tuple[str, ...] = ()
        self.cold = False
        self.env = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("TOOLPOST_", "ANTHROPIC_"))},
            "HOME": str(base),
            "TOOLPOST_CONFIG_DIR": str(self.config),
            "PYTHONPATH": str(self.site),
            "UV_OFFLINE": "1",
            "PIP_NO_INDEX": "1",
        }

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, *self.flags, "-m", "toolpost_core", *arguments]

    def __call__(self, *arguments: str, input: str | bytes = b"", **options: Any) -> subprocess.CompletedProcess[str]:
        data = input.encode() if isinstance(input, str) else input
        if not (self.cold or options):
            return run_program(arguments, cwd=self.project, env=self.env, input=data, flags=self.flags)
        done = subprocess.run(
            self.command(*arguments),
            input=data,
            capture_output=True,
            cwd=self.project,
            env=self.env,
            timeout=60,
            **options,
        )
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    def json(self, *arguments: str, **options: Any) -> Any:
        done = self(*arguments, **options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def settings(self, content: Mapping[str, Any]) -> Path:
        file = self.config / "settings.json"
        file.write_text(json.dumps(content, indent=2), encoding="utf-8")
        return file

    def install(self, name: str, group: str, entry: str, code: str) -> None:
        """Install a distribution of one module and one entry point into the site."""
        module = name.replace("-", "_")
        info = self.site / f"{module}-1.0.dist-info"
        info.mkdir()
        text = f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\nRequires-Dist: toolpost-hookspecs>=1,<2\n"
        (info / "METADATA").write_text(text, encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[toolpost.{group}]\n{entry} = {module}:{entry}\n", encoding="utf-8")
        (self.site / f"{module}.py").write_text(dedent(code), encoding="utf-8")

    def without_plugins(self) -> CommandLine:
        """Let it see the core and its dependencies alone, as if no plugin were installed; that is seen at a cold start."""
        for name in NEEDED:
            spec = importlib.util.find_spec(name)
            assert spec is not None
            assert spec.origin is not None
            (self.site / name).symlink_to(Path(spec.origin).parent)
        self.flags, self.cold = ("-S",), True
        return self


@pytest.fixture
def toolpost(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path.resolve())


@pytest.fixture
def alone(toolpost: CommandLine) -> CommandLine:
    """The command line with no plugin but those that the test installs: looking at what ships takes most of the time."""
    toolpost.without_plugins().cold = False
    return toolpost
