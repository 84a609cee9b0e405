from __future__ import annotations

from toolpost.testing import ToolContract
from toolpost_tool_todo import TodoWrite


class TestTodoWrite(ToolContract):
    tool = TodoWrite
    example = {"todos": [{"content": "Run the tests", "status": "pending", "activeForm": "Running the tests"}]}
    examples_invalid = ({"todos": [{"content": "x", "status": "someday", "activeForm": "x"}]}, {"todos": "none"})
    max_prompt_chars = 900
