"""Each plugin's quality.toml says which rules it keeps; what can be checked is checked, not believed."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import pytest
from tests.architecture.folders import PLUGINS, ROOT, Plugin, sources
from tests.architecture.heavy import HEAVY

TOLD_NOTHING = {"Exception", "RuntimeError", "AssertionError"}
plugin = pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.path)


def contract_kit(plugin: Plugin) -> Iterator[str]:
    """tests/test_contract.py has a class that inherits from a kit of toolpost.testing."""
    file = plugin.folder / "tests/test_contract.py"
    if not file.exists():
        yield "tests/test_contract.py is missing"
        return
    classes = [node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.ClassDef)]
    bases = {base.id for node in classes for base in node.bases if isinstance(base, ast.Name)}
    if not any(base.endswith("Contract") for base in bases):
        yield "tests/test_contract.py has no class that inherits from a contract kit"


def own_tests(plugin: Plugin) -> Iterator[str]:
    """There are tests beside the kit."""
    if not [file for file in plugin.folder.glob("tests/**/test_*.py") if file.name != "test_contract.py"]:
        yield "tests/ has nothing beside test_contract.py"


def typed(plugin: Plugin) -> Iterator[str]:
    """py.typed is shipped, and every function is annotated."""
    if not (plugin.source / "py.typed").exists():
        yield "py.typed is missing"
    for file in sources(plugin.source):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if node.returns is None and node.name != "__init__":
                yield f"{file.name}:{node.lineno}: {node.name} has no return type"


def documented_settings(plugin: Plugin) -> Iterator[str]:
    """Every setting, a field of what the entry point names, stands in the README."""
    readme = (plugin.folder / "README.md").read_text(encoding="utf-8")
    for target in plugin.project["project"]["entry-points"][plugin.group].values():
        module, _, name = target.partition(":")
        named = getattr(import_module(module), name) if name else None
        if named is not None and is_dataclass(named):
            yield from (f"README.md does not tell of `{f.name}`" for f in fields(named) if f"`{f.name}`" not in readme)


def no_heavy_import(plugin: Plugin) -> Iterator[str]:
    """No module of the plugin that its package imports has a heavy library at its top; test_startup.py runs it."""
    for node in ast.parse((plugin.source / "__init__.py").read_text(encoding="utf-8")).body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        yield from (f"__init__.py imports {name}" for name in names if name in HEAVY)


def errors_explained(plugin: Plugin) -> Iterator[str]:
    """What is raised has a class of its own and a text that is more than a word."""
    for file in sources(plugin.source):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call | ast.Name):
                continue
            kind = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if isinstance(kind, ast.Name) and kind.id in TOLD_NOTHING:
                yield f"{file.name}:{node.lineno}: raises {kind.id}"
            message = node.exc.args[0] if isinstance(node.exc, ast.Call) and node.exc.args else None
            if isinstance(message, ast.Constant) and isinstance(message.value, str) and len(message.value.split()) < 3:
                yield f"{file.name}:{node.lineno}: says only {message.value!r}"


RULES: dict[str, Callable[[Plugin], Iterator[str]]] = {
    rule.__name__: rule
    for rule in (contract_kit, own_tests, typed, documented_settings, no_heavy_import, errors_explained)
}


@plugin
def test_the_sheet_answers_every_rule_with_done_or_a_reason(plugin: Plugin) -> None:
    sheet = _sheet(plugin)
    assert sorted(sheet) == sorted(RULES)
    assert [rule for rule, answer in sheet.items() if answer != "done" and not _reason(answer)] == []


@pytest.mark.parametrize("rule", RULES)
@plugin
def test_what_is_done_is_done(plugin: Plugin, rule: str) -> None:
    if _sheet(plugin)[rule] == "done":
        assert list(RULES[rule](plugin)) == []


def test_the_examples_have_a_sheet_of_the_same_rules() -> None:
    for sheet in ROOT.glob("docs/examples/*/quality.toml"):
        assert sorted(tomllib.loads(sheet.read_text(encoding="utf-8"))) == sorted(RULES)


def _sheet(plugin: Plugin) -> dict[str, Any]:
    return tomllib.loads((plugin.folder / "quality.toml").read_text(encoding="utf-8"))


def _reason(answer: Any) -> bool:
    return isinstance(answer, dict) and list(answer) == ["exempt"] and len(answer["exempt"].split()) >= 3
