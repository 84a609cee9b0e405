from __future__ import annotations

from toolpost.testing import ToolContract
from toolpost_tool_write import Write


class TestWrite(ToolContract):
    tool = Write
    example = {"file_path": "new/notes.txt", "content": "one\n"}
    examples_invalid = (
        {"file_path": "old.txt", "content": "not read"},
        {"file_path": ".", "content": "a folder"},
        {"file_path": "new/", "content": "no name"},
    )
    files = {"old.txt": "one\n"}
    max_prompt_chars = 900
