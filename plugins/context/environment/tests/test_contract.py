from __future__ import annotations

from toolpost.testing import ContextSourceContract
from toolpost_context_environment import Environment


class TestEnvironment(ContextSourceContract):
    plugin = Environment
    scope = {"model": "claude-x"}
    max_chars = 1_000
