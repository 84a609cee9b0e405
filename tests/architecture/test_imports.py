"""Dependencies point one way: `toolpost` <- core, `toolpost` <- every plugin."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.architecture.folders import PLUGINS, ROOT, Plugin, sources

LAYERS = (
    "harness", "cli", "api", "session", "transcripts", "loop", "tools", "permissions", "prompt", "events", "plugins",
    "settings",
)  # fmt: skip


@pytest.mark.requirement("layout.plugins_import_the_api_only")
@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.path)
def test_a_plugin_and_its_tests_import_the_api_and_the_plugin_only(plugin: Plugin) -> None:
    found = [
        f"{file.relative_to(ROOT)}: {name}"
        for file in sources(plugin.folder)
        for name in imported(file)
        if name.split(".")[0].startswith("toolpost_") and name.split(".")[0] != plugin.package
    ]
    assert found == []


@pytest.mark.requirement("layout.core_names_no_plugin")
def test_the_core_imports_no_plugin_and_names_none() -> None:
    packages = {plugin.package for plugin in PLUGINS} | {plugin.distribution for plugin in PLUGINS}
    named = [
        f"{file.relative_to(ROOT)}: {package}"
        for file in sources(ROOT / "core/src")
        for package in sorted(packages)
        if package in file.read_text(encoding="utf-8")
    ]
    assert named == []


def test_the_api_imports_nothing_of_ours_and_its_two_libraries_only() -> None:
    allowed = {"toolpost", "pluggy", "pydantic", *sys.stdlib_module_names}
    optional = {"pytest", "jsonschema"}
    found = [
        f"{file.relative_to(ROOT)}: {name}"
        for file in sources(ROOT / "hookspecs/src")
        for name in imported(file)
        if name.split(".")[0] not in (allowed | optional if "testing" in file.parts else allowed)
    ]
    assert found == []


@pytest.mark.requirement("layout.layers")
def test_import_linter_finds_no_broken_contract(tmp_path: Path) -> None:
    from importlinter.cli import lint_imports

    config = tmp_path / "importlinter.ini"
    config.write_text(_contracts(), encoding="utf-8")
    assert lint_imports(config_filename=str(config), no_cache=True) == 0


def imported(file: Path) -> Iterator[str]:
    """Yield the absolute names that a file imports, wherever it does."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module or ""


def _contracts() -> str:
    """Write import-linter's contracts from the folders: the layers of core, and what each package may see."""
    packages = ["toolpost", "toolpost_core", *(plugin.package for plugin in PLUGINS)]
    parts = [
        f"[importlinter]\nroot_packages =\n{_lines(packages)}",
        "[importlinter:contract:layers]\nname = Inside the core, imports go down the layers\ntype = layers\n"
        f"containers =\n    toolpost_core\nlayers =\n{_lines(LAYERS)}\nexhaustive = True\n"
        "exhaustive_ignores =\n    version\n    __main__",
        "[importlinter:contract:api]\nname = The public API imports nothing of ours\ntype = forbidden\n"
        f"source_modules =\n    toolpost\nforbidden_modules =\n{_lines(packages[1:])}",
        "[importlinter:contract:core]\nname = Core and plugins do not import each other\ntype = independence\n"
        f"modules =\n{_lines(packages[1:])}",
    ]
    return "\n\n".join(parts) + "\n"


def _lines(names: Sequence[str]) -> str:
    return "\n".join(f"    {name}" for name in names)
