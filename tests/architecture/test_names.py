"""Names follow from folders, and lists that repeat the folders agree with them."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence

import pytest
from tests.architecture.folders import KINDS, PLUGINS, ROOT, Plugin

TOP_LEVEL = {"builtin_tools", "core", "docs", "hookspecs", "plugins", "tests"}
LISTS = {"hatch_build.py", "pyproject.toml", "uv.lock", "LICENSE", "README.md", "CONTRIBUTING.md"}
DEFINITIONS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MEMBERS = ["hookspecs", "core", *(plugin.path for plugin in PLUGINS)]

plugin = pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.path)


def test_the_root_holds_the_agreed_folders_and_files() -> None:
    shown = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert shown - {"dist", "build", "__pycache__"} == TOP_LEVEL | LISTS


@pytest.mark.requirement("layout.names_follow_folders")
@plugin
def test_distribution_group_and_entry_follow_from_the_folder(plugin: Plugin) -> None:
    project = plugin.project["project"]
    assert project["name"] == plugin.distribution
    groups: dict[str, dict[str, str]] = project["entry-points"]
    # One that serves under other kinds as well is the same object there, by the same name.
    assert plugin.group in groups
    assert {name for entries in groups.values() for name in entries} == {plugin.entry}
    assert len({entries[plugin.entry] for entries in groups.values()}) == 1
    assert groups[plugin.group][plugin.entry].partition(":")[0] == plugin.package


@plugin
def test_a_plugin_has_the_parts_that_every_plugin_has(plugin: Plugin) -> None:
    parts = ["pyproject.toml", "README.md", "quality.toml", f"src/{plugin.package}/__init__.py", "tests"]
    assert [part for part in parts if not (plugin.folder / part).exists()] == []
    assert [path.name for path in (plugin.folder / "src").iterdir() if path.is_dir()] == [plugin.package]


@plugin
def test_a_plugin_says_which_hookspecs_it_was_made_for(plugin: Plugin) -> None:
    assert "toolpost-hookspecs>=1,<2" in plugin.project["project"]["dependencies"]


def test_every_kind_is_a_hook_of_the_api() -> None:
    from toolpost import specs

    assert [kind for kind in KINDS if kind != "lifecycle" and not hasattr(specs, kind)] == []
    assert {plugin.folder.parent.name for plugin in PLUGINS} <= {*KINDS, "builtin_tools"}


def test_uv_sources_name_every_member() -> None:
    expected = ["toolpost-core", "toolpost-hookspecs", *(plugin.distribution for plugin in PLUGINS)]
    assert _differences(expected, list(DEFINITIONS["tool"]["uv"]["sources"])) == ([], [])


def test_mypy_path_names_every_member() -> None:
    given = [path for path in DEFINITIONS["tool"]["mypy"]["mypy_path"] if path not in ("docs", "tests/support")]
    assert _differences([f"{member}/src" for member in MEMBERS], given) == ([], [])


def test_the_lock_file_knows_every_member() -> None:
    locked = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    expected = ["toolpost", "toolpost-core", "toolpost-hookspecs", *(plugin.distribution for plugin in PLUGINS)]
    assert _differences(expected, locked["manifest"]["members"]) == ([], [])


def _differences(expected: Sequence[str], given: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return what is missing and what is too much."""
    return sorted(set(expected) - set(given)), sorted(set(given) - set(expected))
