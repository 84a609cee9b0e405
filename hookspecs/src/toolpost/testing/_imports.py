"""What importing a plugin's package costs, seen from an interpreter of its own."""

from __future__ import annotations

import math
from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from toolpost.testing._interpreters import ready_interpreter

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
_TRIES: Final = 5
_MEASURE: Final = """
import time
before, began = set(sys.modules), time.process_time()
__import__(arguments[0])
answer = time.process_time() - began, sorted(set(sys.modules) - before)
"""


class Import(NamedTuple):
    """Seconds of CPU, and the modules that came with it."""

    seconds: float
    modules: tuple[str, ...]


def importing(plugin: object, budget: float, compiled: Path) -> Import:
    """Import a plugin's module in an interpreter of its own that has the whole public API already.

    The first import may have to compile, and other programs take turns: the best of some tells what the plugin costs.
    `compiled` takes compiled files where the environment says that none are to be written beside the source, from the
    second try on: most plugins keep their budget at the first.
    """
    module, best = module_of(plugin), Import(math.inf, ())
    for number in range(_TRIES):
        interpreter = ready_interpreter(compiled if number else None)
        best = min(best, Import(*interpreter.ask(_MEASURE, module)))
        if best.seconds <= budget:
            break
    return best


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


def heavy_among(modules: Collection[str], allowed: Collection[str]) -> list[str]:
    """Return the heavy libraries among modules."""
    return sorted({*HEAVY} & {*modules} - {*allowed})
