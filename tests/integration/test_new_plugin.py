"""From an empty folder to a tool in use: `toolpost plugins new`, `pip install`, `pytest`, `toolpost plugins enable`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest


class Environment:
    """A virtual environment with pip of its own, in which everything is importable that is here."""

    def __init__(self, base: Path) -> None:
        self.folder, self.project = base / "venv", base / "project"
        self.project.mkdir()
        self._run(sys.executable, "-m", "venv", str(self.folder))
        here = sysconfig.get_paths()["purelib"]
        (site,) = self.folder.glob("lib/python*/site-packages")
        (site / "beside.pth").write_text(f"import site; site.addsitedir({here!r})\n", encoding="utf-8")

    def python(self, *arguments: str, input: str = "") -> str:
        """Run a module of the environment in the project's folder; return what it prints."""
        return self._run(str(self.folder / "bin" / "python"), "-m", *arguments, input=input)

    def uv(self, *arguments: str) -> None:
        self._run("uv", *arguments)

    def _run(self, *command: str, input: str = "") -> str:
        unwanted = ("TOOLPOST_", "ANTHROPIC_", "PYTHON", "PIP_", "UV_", "VIRTUAL_ENV")
        env = {key: value for key, value in os.environ.items() if not key.startswith(unwanted)}
        home = {"HOME": str(self.folder.parent / "home"), "PYTHONDONTWRITEBYTECODE": "1", "PIP_NO_INPUT": "1"}
        cache = os.environ.get("UV_CACHE_DIR") or str(Path.home() / ".cache" / "uv")
        done = subprocess.run(
            command,
            cwd=self.project,
            env={**env, **home, "UV_CACHE_DIR": cache, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
            input=input,
            capture_output=True,
            text=True,
            check=False,
            timeout=110,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.mark.timeout(300)
def test_a_new_plugin_is_installed_tested_turned_on_and_called(tmp_path: Path) -> None:
    made = Environment(tmp_path.resolve())
    made.python("toolpost_core", "plugins", "new", "acme-sql", "--kind", "tool")

    made.uv("build", "--offline", "--quiet", "--wheel", "--out-dir", "dist", "acme-sql")
    (wheel,) = made.project.glob("dist/*.whl")
    made.python("pip", "install", "--quiet", "--no-index", "--no-deps", str(wheel))
    assert " passed" in made.python("pytest", "-p", "no:cacheprovider", "acme-sql")

    (made.project / "notes.txt").write_text("one two three", encoding="utf-8")
    call = json.dumps({"tool": "acme_sql", "input": {"path": "notes.txt"}}) + "\n"
    before = json.loads(made.python("toolpost_core", "tool", "run", "--json", input=call))
    assert "No such tool" in before["content"]
    made.python("toolpost_core", "plugins", "enable", "acme-sql")
    after = json.loads(made.python("toolpost_core", "tool", "run", "--json", input=call))
    assert (after["is_error"], after["content"]) == (False, "3 words")
