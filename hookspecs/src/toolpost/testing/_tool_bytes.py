"""What of a tool stands in each request, as another process makes it."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from toolpost.testing._imports import module_of
from toolpost.testing._interpreters import ready_interpreter
from toolpost.tools import Tool

_BYTES = """
import importlib, json
found = getattr(importlib.import_module(arguments[0]), arguments[1])
tool = found() if isinstance(found, type) else found
answer = [tool.name, tool.prompt({}), json.dumps(tool.shape().schema)]
"""


def sent_by(tool: Tool[Any], *, seed: int) -> Any:
    """Return name, prompt and schema as an interpreter of its own with this hash seed makes them."""
    return ready_interpreter(seed=seed).ask(_BYTES, module_of(tool), _attribute(tool))


def _attribute(tool: Tool[Any]) -> str:
    """Return under which name a tool's module has it."""
    found = vars(sys.modules[type(tool).__module__])
    name = next((name for name, value in found.items() if value is tool), type(tool).__name__)
    if name not in found:
        pytest.skip(f"{type(tool).__module__} has no attribute that is {tool!r:.80}")
    return name
