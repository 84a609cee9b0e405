"""The public API changes only together with its version, and each version is told of in the API's own CHANGELOG.md."""

from __future__ import annotations

import difflib
import re
from importlib import util
from itertools import pairwise
from pathlib import Path
from types import ModuleType

from toolpost import HOOKSPEC_VERSION

FOLDER = Path(__file__).parent / "api"
CHANGELOG = FOLDER.parents[1] / "CHANGELOG.md"


def _script() -> ModuleType:
    spec = util.spec_from_file_location("api_snapshot", FOLDER / "snapshot.py")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_api_is_the_one_that_was_written_down_for_its_version() -> None:
    script = _script()
    assert script.FILE.exists(), f"the API {HOOKSPEC_VERSION} was not written down yet: run {FOLDER / 'snapshot.py'}"
    written, now = script.FILE.read_text(encoding="utf-8"), script.snapshot()
    changes = [line for line in difflib.ndiff(written.splitlines(), now.splitlines()) if line[0] in "+-"]
    assert changes == [], (
        "the public API is not the one of its version. Raise HOOKSPEC_VERSION (something added: a minor; something "
        "removed or changed: a major, after a minor that warned) and the version in pyproject.toml, tell of it in "
        f"hookspecs/CHANGELOG.md, and run python {FOLDER.relative_to(FOLDER.parents[2])}/snapshot.py"
    )


def test_the_changelog_begins_with_the_version_in_force() -> None:
    told = [line for line in CHANGELOG.read_text(encoding="utf-8").splitlines() if line.startswith("## ")]
    assert told[0].split()[1] == HOOKSPEC_VERSION


def test_the_distribution_has_the_version_of_the_api() -> None:
    text = (CHANGELOG.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{HOOKSPEC_VERSION}"' in text


def test_what_a_minor_adds_takes_nothing_away() -> None:
    versions = sorted(FOLDER.glob("*.txt"), key=lambda file: [int(part) for part in file.stem.split(".")])
    for older, newer in pairwise(versions):
        if older.stem.split(".")[0] == newer.stem.split(".")[0]:
            assert _names(older) - _names(newer) == set(), f"{newer.stem} has lost what {older.stem} had"


def _names(file: Path) -> set[str]:
    lines = file.read_text(encoding="utf-8").splitlines()[1:]
    return {re.split(r"[(:=]", line)[0].strip() for line in lines}
