"""The tutorial can be followed: it shows what `plugins new` writes, and what it changes passes the plugin's tests."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.docs.pages import ROOT, blocks

TUTORIAL = ROOT / "docs/tutorial.md"


def test_the_tutorial_shows_what_is_written_and_its_changes_pass_the_tests(tmp_path: Path) -> None:
    project = tmp_path / "acme-words"
    _done([sys.executable, "-m", "toolpost_core", "plugins", "new", "acme-words", "--kind", "tool"], tmp_path)
    for file, text in _marked("new"):
        assert (project / file).read_text(encoding="utf-8") == text, file
    for file, text in _marked("part"):
        whole = tomllib.loads((project / file).read_text(encoding="utf-8"))["project"]
        part = tomllib.loads(text)["project"]
        assert part == {key: whole[key] for key in part}, file
    for file, text in _marked("file"):
        (project / file).write_text(text, encoding="utf-8")
    for file, text in _marked("add"):
        with (project / file).open("a", encoding="utf-8") as tests:
            tests.write(f"\n\n{text}")
    told = _done([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."], project)
    assert "passed" in told


def _marked(how: str) -> Iterator[tuple[str, str]]:
    for block in blocks(TUTORIAL):
        for word in block.words:
            if word.startswith(f"{how}="):
                yield word.removeprefix(f"{how}="), block.text


def _done(command: list[str], cwd: Path) -> str:
    env = os.environ | {"PYTHONPATH": str(cwd / "src"), "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(cwd)}
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr
    return done.stdout
