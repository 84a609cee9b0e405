from __future__ import annotations

from typing import ClassVar

from toolpost.testing import ToolContract
from toolpost_tool_bash import Bash


class TestBash(ToolContract):
    tool = Bash
    example: ClassVar = {"command": "cat notes.txt"}
    examples_invalid = ({"command": "  "}, {"command": "echo \0"})
    example_slow: ClassVar = {"command": "sleep 60"}
    files: ClassVar = {"notes.txt": "one\n"}
    max_prompt_chars = 1_200
