from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolpost.testing import ToolContract
from toolpost_tool_grep import Grep


class TestGrep(ToolContract):
    tool = Grep
    example = {"pattern": "o[nm]e", "output_mode": "content", "-C": 1}
    examples_invalid = ({"pattern": "("}, {"pattern": ""}, {"pattern": "x", "path": "nowhere"})
    example_slow = {"pattern": "x", "path": "pipe"}
    files = {"notes.txt": "one\ntwo\n"}
    max_prompt_chars = 900

    @pytest.fixture(autouse=True)
    def pipe(self, folder: Path) -> None:
        """The pipe that the slow example waits at; a search of the folder passes it over."""
        os.mkfifo(folder / "pipe")
