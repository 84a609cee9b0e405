from __future__ import annotations

from toolpost.testing import ToolContract
from toolpost_tool_read import Read


class TestRead(ToolContract):
    tool = Read
    example = {"file_path": "notes.txt"}
    examples_invalid = ({"file_path": "missing.txt"}, {"file_path": "notes.txt", "offset": -1}, {"file_path": "."})
    files = {"notes.txt": "one\ntwo\n"}
    max_prompt_chars = 900
