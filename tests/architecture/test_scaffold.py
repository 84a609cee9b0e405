"""What `toolpost plugins new` writes and what ships have one shape, so that each shows how the other is read."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.architecture.folders import KINDS as WORDS
from tests.architecture.folders import PLUGINS, Plugin
from tests.architecture.test_quality import RULES

from toolpost_core.plugins.scaffold import KINDS, names_for, render, write

OF_A_REPOSITORY = {".github/workflows/test.yml", ".gitignore", "LICENSE"}
"""Files that a project of its own needs; for what ships they lie at the root."""

OF_A_STRANGER = {"project.license-files", "project.optional-dependencies"}
"""Keys that a project of its own needs: for its licence, and for what its tests are run with."""

every_kind = pytest.mark.parametrize("kind", KINDS)
every_plugin = pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.path)


@dataclass(frozen=True)
class NewPlugin(Plugin):
    """A new project, read as the plugins that ship are."""

    kind: str = ""

    @property
    def entry(self) -> str:
        return self.package

    @property
    def group(self) -> str:
        return f"toolpost.{KINDS[self.kind].group}"

    @property
    def distribution(self) -> str:
        return f"acme-{self.kind}"


@every_plugin
def test_a_plugin_that_ships_has_every_file_of_a_new_one(plugin: Plugin) -> None:
    names = names_for(f"acme-{_kind(plugin)}", plugin.group)
    new = {path.replace(names.package, plugin.package) for path in render(_kind(plugin), names)} - OF_A_REPOSITORY
    own_tests = f"tests/test_{plugin.package}.py"
    assert [path for path in sorted(new - {own_tests}) if not (plugin.folder / path).is_file()] == []
    assert len(list(plugin.folder.glob("tests/test_*.py"))) >= len([path for path in new if path.startswith("tests/")])


@every_plugin
def test_a_plugin_that_ships_has_the_keys_of_a_new_one_in_their_order(plugin: Plugin, tmp_path: Path) -> None:
    new = _new(_kind(plugin), tmp_path)
    expected = [key for key in _keys(new.project) if key not in OF_A_STRANGER]
    given = [key for key in _keys(plugin.project) if not _of_another_kind(key, plugin)]
    assert given == [key.replace(new.entry, plugin.entry) for key in expected]


def _of_another_kind(key: str, plugin: Plugin) -> bool:
    """Whether a key names a plugin's object under the group of another kind, which it serves as well."""
    groups = plugin.project["project"]["entry-points"]
    return any(key == f"project.entry-points.{group}.{plugin.entry}" for group in groups if group != plugin.group)


@every_plugin
def test_what_does_not_depend_on_the_plugin_is_the_same(plugin: Plugin, tmp_path: Path) -> None:
    new = _new(_kind(plugin), tmp_path)
    assert plugin.project["build-system"] == new.project["build-system"]
    for key in ("readme", "requires-python", "license"):
        assert plugin.project["project"][key] == new.project["project"][key]
    first = [project["project"]["dependencies"][0] for project in (plugin.project, new.project)]
    assert first[0] == first[1]
    assert list(new.project["project"]["entry-points"]) == [plugin.group]
    assert _kits(plugin) & _kits(new)


@every_kind
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_new_plugin_keeps_the_rules_of_its_quality_sheet(
    kind: str, rule: Callable[[Plugin], Iterator[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = _new(kind, tmp_path)
    monkeypatch.syspath_prepend(str(new.source.parent))
    found = list(rule(new))
    sys.modules.pop(new.package, None)
    assert found == []


def _new(kind: str, base: Path) -> NewPlugin:
    write(base / kind, _texts(kind))
    return NewPlugin(base / kind, kind)


@cache
def _texts(kind: str) -> Mapping[str, str]:
    return render(kind, names_for(f"acme-{kind}", KINDS[kind].group))


def _kind(plugin: Plugin) -> str:
    return WORDS.get(plugin.folder.parent.name, "tool")


def _keys(table: Mapping[str, Any], before: str = "") -> Iterator[str]:
    """Yield the keys of a TOML document in the order in which they stand, those of tables within it with a dot."""
    for key, value in table.items():
        if isinstance(value, Mapping) and f"{before}{key}" != "project.optional-dependencies":
            yield from _keys(value, f"{before}{key}.")
        else:
            yield f"{before}{key}"


def _kits(plugin: Plugin) -> set[str]:
    """Return the contract kits that a plugin's tests name."""
    tree = ast.parse((plugin.folder / "tests/test_contract.py").read_text(encoding="utf-8"))
    imports = [
        node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "toolpost.testing"
    ]
    return {alias.name for node in imports for alias in node.names if alias.name.endswith("Contract")}
