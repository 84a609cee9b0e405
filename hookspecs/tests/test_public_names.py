"""What `toolpost`, `toolpost.on` and `toolpost.testing` show is what their stubs type, and it is there."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import toolpost
from toolpost import Event, on

MODULES = ("toolpost", "toolpost.on", "toolpost.testing")
HEAVY = ("pydantic", "asyncio", "importlib.metadata", "typing_extensions", "inspect", "subprocess")


@pytest.mark.parametrize("name", MODULES)
def test_the_public_names_are_those_of_the_stub(name: str) -> None:
    module = import_module(name)
    file = Path(str(module.__file__))
    imported = [
        alias.asname or alias.name
        for node in ast.parse(file.with_suffix(".pyi").read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert sorted(module.__all__) == sorted(imported)


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_can_be_imported(name: str) -> None:
    module = import_module(name)
    assert [public for public in module.__all__ if not hasattr(module, public)] == []


@pytest.mark.requirement("startup.api_is_light")
def test_importing_the_api_loads_no_heavy_module() -> None:
    script = f"import toolpost, sys, json; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    baseline = _loaded("import json, sys; print(json.dumps(list(sys.modules)))")
    assert [module for module in _loaded(script) if module not in baseline] == []


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = toolpost.no_such_name  # type: ignore[attr-defined]


def test_a_name_that_is_misspelt_is_asked_for() -> None:
    with pytest.raises(AttributeError, match=r"'pre_tool_uze'\. Did you mean 'pre_tool_use'\?"):
        _ = on.pre_tool_uze  # type: ignore[attr-defined]


def test_every_event_is_named_for_its_hook() -> None:
    for name in on.__all__:
        event = getattr(on, name)
        assert isinstance(event, Event)
        assert event.name == name


def _loaded(script: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded: list[str] = json.loads(done.stdout)
    return loaded
