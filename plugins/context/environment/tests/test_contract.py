from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from toolpost.testing import ContextSourceContract
from toolpost_context_environment import Environment


class TestEnvironment(ContextSourceContract):
    plugin = Environment
    scope: ClassVar[Mapping[str, Any]] = {"model": "claude-x"}
    max_chars = 1_000
