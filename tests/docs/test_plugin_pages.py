"""docs/plugins has a page of one shape for each kind of plugin, and what it shows passes the kind's contract kit."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_site import fresh_site
from tests.docs.pages import ROOT, as_module, blocks, prose
from written.kinds import kit_of

import toolpost
from toolpost import testing
from toolpost_core.plugins.groups import KINDS

FOLDER = ROOT / "docs/plugins"
SHOWN = [*(FOLDER / f"{group}.md" for group in KINDS), FOLDER / "testing.md"]
SHAPE = ["Smallest example", "Contract", "Real examples", "Testing", "Settings", "Notes"]
MYPY = "[mypy]\nstrict = True\ndisable_error_code = type-abstract\n"
PYTEST_PLUGIN = "toolpost.testing.pytest_plugin"
API = ROOT / "docs/reference/api.md"


@pytest.mark.parametrize("group", KINDS)
def test_the_page_of_a_kind_has_the_shape_of_all(group: str) -> None:
    page = FOLDER / f"{group}.md"
    assert re.findall(r"^## (.+)$", prose(page), flags=re.MULTILINE) == SHAPE
    shown = [block.text for block in blocks(page) if "run" in block.words]
    assert any(f"({kit_of(group).__name__})" in text for text in shown)


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.stem)
def test_what_a_page_shows_passes_its_contract_kits(page: Path, tmp_path: Path) -> None:
    plugin = _plugin_of(page)
    (tmp_path / f"acme_{page.stem}.py").write_text(plugin, encoding="utf-8")
    tests = f"from acme_{page.stem} import *" + as_module(page, since=plugin.count("\n") + 1)
    (tmp_path / f"test_{page.stem}.py").write_text(tests, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", PYTEST_PLUGIN, "--rootdir", tmp_path, tmp_path],
        cwd=tmp_path,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5_000:]


def test_the_plugins_of_the_pages_are_on_with_the_settings_that_these_show(tmp_path: Path) -> None:
    shown = {group: _settings(FOLDER / f"{group}.md") for group in KINDS}
    entries = {group: {name: _value(FOLDER / f"{group}.md", name) for name in names} for group, names in shown.items()}
    with fresh_site(tmp_path / "site") as site:
        site.install("acme-pages", entries=entries)
        for group in KINDS:
            (site.folder / f"acme_{group}.py").write_text(_plugin_of(FOLDER / f"{group}.md"), encoding="utf-8")
    settings = tmp_path / "settings.json"
    plugins = {name: setting for names in shown.values() for name, setting in names.items()}
    settings.write_text(json.dumps({"plugins": plugins}), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "toolpost_core", "plugins", "doctor", "--settings", str(settings)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(site.folder), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_in_strict_mode_takes_what_the_pages_show(tmp_path: Path) -> None:
    for page in SHOWN:
        (tmp_path / f"page_{page.stem}.py").write_text(as_module(page), encoding="utf-8")
    # Reading all of mcp takes longer than everything else.
    (tmp_path / "mypy.ini").write_text(f"{MYPY}[mypy-mcp.*]\nfollow_imports = skip\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("package", [toolpost, testing], ids=lambda package: str(package.__name__))
def test_every_public_name_has_a_line_with_what_it_is(package: object) -> None:
    lines = re.findall(r"^- `(?:async |class )?(\w+)([^`]*`.*)$", API.read_text(encoding="utf-8"), flags=re.MULTILINE)
    # What an alias stands for says what it is.
    said = {name: text for name, text in lines if not text.endswith("`") or " = " in text}
    names: list[str] = [name for name in package.__all__ if name != "on"]  # type: ignore[attr-defined]
    assert [name for name in names if name not in said] == []


def _plugin_of(page: Path) -> str:
    """The page's blocks before those that test it."""
    testing_starts = next(block.line for block in blocks(page) if "from toolpost.testing import" in block.text)
    return as_module(page, until=testing_starts)


def _settings(page: Path) -> dict[str, Any]:
    shown = [json.loads(block.text)["plugins"] for block in blocks(page) if block.language == "json"]
    return {name: setting for plugins in shown for name, setting in plugins.items()}


def _value(page: Path, name: str) -> str:
    """The entry point's value for a plugin that a page calls by a name: its class begins with the name."""
    classes = re.findall(r"^class (\w+)", _plugin_of(page), flags=re.MULTILINE)
    found = [kind for kind in classes if kind.lower().startswith(name.replace("_", ""))]
    return f"acme_{page.stem}:{found[-1]}"
