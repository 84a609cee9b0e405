from __future__ import annotations

from toolpost.testing import ToolContract
from toolpost_tool_bash import Bash


class TestBash(ToolContract):
    tool = Bash
    example = {"command": "cat notes.txt"}
    examples_invalid = ({"command": "  "}, {"command": "echo \0"})
    example_slow = {"command": "sleep 60"}
    files = {"notes.txt": "one\n"}
    max_prompt_chars = 1_200
