from __future__ import annotations

from toolpost.testing import ToolContract
from toolpost_tool_glob import Glob


class TestGlob(ToolContract):
    tool = Glob
    example = {"pattern": "**/*.txt"}
    examples_invalid = ({"pattern": ""}, {"pattern": "*", "path": "nowhere"})
    files = {"a/notes.txt": "one"}
    max_prompt_chars = 900
