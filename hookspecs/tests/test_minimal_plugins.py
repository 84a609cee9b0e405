"""The five plugins of the documentation, each a distribution of its own, pass their own tests."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "docs/examples").glob("acme_*"))


def test_there_is_an_example_for_each_of_the_five_shapes_of_a_plugin() -> None:
    groups = {next(iter(_project(folder)["entry-points"])) for folder in EXAMPLES}
    kinds = ("tools", "permission_resolvers", "providers", "compaction", "lifecycle")
    assert groups == {f"toolpost.{kind}" for kind in kinds}


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_its_own_tests_pass_with_the_public_api_alone(folder: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-c", str(folder / "pyproject.toml"), "-p", "no:cacheprovider", "-q"]
    done = subprocess.run(
        [*command, str(folder / "tests")],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_its_entry_point_names_an_object_in_a_process_that_has_only_the_api(folder: Path) -> None:
    entries = next(iter(_project(folder)["entry-points"].values()))
    name, _, attribute = next(iter(entries.values())).partition(":")
    script = (
        f"import sys, importlib; sys.path[:0] = [{str(folder / 'src')!r}]; found = importlib.import_module({name!r})\n"
        f"found = getattr(found, {attribute!r}) if {attribute!r} else found\n"
        "assert not any(module.startswith('toolpost_') for module in sys.modules), 'more than the API was imported'"
    )
    done = subprocess.run([sys.executable, "-B", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _project(folder: Path) -> dict[str, dict[str, dict[str, str]]]:
    text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    project: dict[str, dict[str, dict[str, str]]] = tomllib.loads(text)["project"]
    return project
