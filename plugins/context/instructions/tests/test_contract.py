from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from toolpost.testing import ContextSourceContract
from toolpost_context_instructions import Instructions


class TestInstructions(ContextSourceContract):
    plugin = Instructions
    files: ClassVar[Mapping[str, str | bytes]] = {"TOOLPOST.md": "Use tabs.\n@more.md\n", "more.md": "And spaces.\n"}
