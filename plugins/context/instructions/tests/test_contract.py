from __future__ import annotations

from toolpost.testing import ContextSourceContract
from toolpost_context_instructions import Instructions


class TestInstructions(ContextSourceContract):
    plugin = Instructions
    files = {"TOOLPOST.md": "Use tabs.\n@more.md\n", "more.md": "And spaces.\n"}
