"""What importing a plugin's package costs, seen from a fresh interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

IMPORT_BUDGET: Final = 0.05
"""Seconds of CPU that importing a plugin may take beyond the public API: twenty plugins then add a second."""
HEAVY: Final = (
    "PIL",
    "boto3",
    "httpx",
    "httpx2",
    "importlib.metadata",
    "jsonschema",
    "numpy",
    "pandas",
    "prompt_toolkit",
    "pydantic",
    "pygments",
    "requests",
    "rich",
    "sqlalchemy",
    "stevedore",
    "tree_sitter",
    "watchfiles",
    "yaml",
)
"""Libraries that belong into the function that needs them."""
_MEASURE = """
import json, sys, time
sys.path[:] = json.loads(sys.argv[1])
import asyncio, importlib, toolpost
for name in toolpost.__all__:
    getattr(toolpost, name) if name != "on" else importlib.import_module("toolpost.on")
before = set(sys.modules)
began = time.process_time()
__import__(sys.argv[2])
print(json.dumps([time.process_time() - began, sorted(set(sys.modules) - before)]))
"""


class Import(NamedTuple):
    """Seconds of CPU, and the modules that came with it."""

    seconds: float
    modules: tuple[str, ...]


def importing(plugin: object, compiled: Path) -> Import:
    """Import a plugin's module in a fresh interpreter that has the whole public API already.

    `compiled` takes compiled files where the environment says that none are to be written beside the source.
    """
    return Import(*run_fresh(_MEASURE, module_of(plugin), compiled=compiled))


def module_of(plugin: object) -> str:
    """Return the module that defines a plugin; skips the test where nobody could import it by name."""
    kind = plugin if isinstance(plugin, type) or hasattr(plugin, "__path__") else type(plugin)
    name = str(getattr(kind, "__module__", None) or getattr(kind, "__name__", ""))
    if name == "builtins" and hasattr(plugin, "__name__"):
        name = plugin.__name__  # the plugin is a module
    try:
        found = find_spec(name)
    except (ImportError, ValueError):
        found = None
    if found is None:
        pytest.skip(f"{name!r} is in no package that could be imported by its name")
    return name


def run_fresh(script: str, *arguments: str, compiled: Path, seed: int = 0) -> Any:
    """Run a script in a fresh interpreter with this one's path; return the JSON that it prints."""
    env = {**os.environ, "PYTHONHASHSEED": str(seed)}
    if env.pop("PYTHONDONTWRITEBYTECODE", ""):
        env["PYTHONPYCACHEPREFIX"] = str(compiled)
    done = subprocess.run(
        [sys.executable, "-c", script, json.dumps(sys.path), *arguments],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"in a fresh interpreter this failed:\n{done.stderr[-2000:]}"
    return json.loads(done.stdout.splitlines()[-1])


def heavy_among(modules: Collection[str], allowed: Collection[str]) -> list[str]:
    """Return the heavy libraries among modules."""
    return sorted({*HEAVY} & {*modules} - {*allowed})
