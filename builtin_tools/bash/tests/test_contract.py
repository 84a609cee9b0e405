from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from toolpost.testing import ToolContract
from toolpost_tool_bash import Bash


class TestBash(ToolContract):
    tool = Bash
    example: ClassVar[Mapping[str, Any]] = {"command": "cat notes.txt", "description": "Show the notes"}
    examples_invalid = ({"command": ""}, {"command": "true", "timeout": "soon"})
    example_slow: ClassVar[Mapping[str, Any] | None] = {"command": "sleep 600"}
    files: ClassVar[Mapping[str, str | bytes]] = {"notes.txt": "one\ntwo\n"}
